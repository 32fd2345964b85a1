import { formatNodeId, type NodeId } from '../../../src/protocol/ids.ts'

/** A request to answer a message again: its number, and the message's id. */
const again = /^regenerate:(\d+):([\s\S]*)$/

/** The request that a prompt is answered again by; each has an id of its own. */
export const againId = (requestId: string, number: number): string => `regenerate:${number}:${messageIdOf(requestId)}`

/** Tells whether a request asks for another answer to an earlier message. */
export const isAgain = (requestId: string): boolean => again.test(requestId)

/** The id of a person's message, by the request that its newest answer came of. */
export const messageIdOf = (requestId: string): string => again.exec(requestId)?.[2] ?? requestId

/** How often a message was answered again. */
export const timesAgain = (requestId: string): number => Number(again.exec(requestId)?.[1] ?? 0)

/** The id of what was said to an agent other than by a prompt. */
export const saidId = (agentId: string, nodeId: NodeId): string => `${agentId}/${formatNodeId(nodeId)}`
