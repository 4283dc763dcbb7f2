"""Wrong answers to the exercises of notebook 06."""
