"""What is too long for the test suite: a large collection with broken pictures, and kills at random moments."""
