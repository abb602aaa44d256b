"""Names the tree a leaf came from, by classical computer vision, on an ordinary CPU."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import a public name of the stub at its first use, which is faster."""
    import lazy_loader

    from leafid.errors import naming_what_to_install

    import_name, list_names, names = lazy_loader.attach_stub(__name__, __file__)
    import_name = naming_what_to_install()(import_name)
    globals().update(__getattr__=import_name, __dir__=list_names, __all__=names)
    return names if name == "__all__" else import_name(name)


def __dir__() -> list[str]:
    return [*__getattr__("__all__")]  # type: ignore[misc]  # which is a list
