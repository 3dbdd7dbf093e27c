"""What desktop clients, second processes and writers of the state directory do to a server, in short."""
