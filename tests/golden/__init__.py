"""Results of the public methods on small logs, stored so that a change of the code can be seen."""
