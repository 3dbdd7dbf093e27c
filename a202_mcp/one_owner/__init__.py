"""What the two servers share that act for one owner: the seller's (`treatyway`) and the member's (`axp`).

The owner writes a file and limits, the agent has a key and a mandate, everybody else is a placeholder, and what is
promised is kept as one side's record. Nothing here knows a protocol; a surface brings it.
"""
