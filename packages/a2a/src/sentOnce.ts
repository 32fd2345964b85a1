/** Extension of servers that carry a message out once, by its id, however often it is sent. */
export const sentOnce = 'urn:escapement:sent-once'
