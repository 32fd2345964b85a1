import { formatNodeId, type NodeId } from '../../../src/protocol/ids.ts'

/** Matches the id of a request to answer a message again: its number, and the message's id. */
const again = /^regenerate:(\d+):([\s\S]*)$/

/** Returns the id of a request to answer a prompt again. Each request has its own number. */
export const againId = (requestId: string, number: number): string => `regenerate:${number}:${messageIdOf(requestId)}`

/** True if a request asks for another answer to an earlier message. */
export const isAgain = (requestId: string): boolean => again.test(requestId)

/** Returns the id of a person's message, given the request for its newest answer. */
export const messageIdOf = (requestId: string): string => again.exec(requestId)?.[2] ?? requestId

/** Returns how often a message was answered again. */
export const timesAgain = (requestId: string): number => Number(again.exec(requestId)?.[1] ?? 0)

/** Returns the id of a message that reached an agent other than by a prompt. */
export const saidId = (agentId: string, nodeId: NodeId): string => `${agentId}/${formatNodeId(nodeId)}`
