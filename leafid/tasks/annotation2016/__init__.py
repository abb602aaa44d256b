"""The ImageCLEF 2016 annotation task: five subtasks, a line a picture or document."""
