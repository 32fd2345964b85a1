/** Extension of servers that carry out a message only once by its id, however often it is sent. */
export const sentOnce = 'urn:escapement:sent-once'
