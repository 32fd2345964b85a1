import type { NodeId } from '../../../src/protocol/ids.ts'
import { toolCallsOf } from '../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'

/** Searches the records of a history, in order, for the moment when the step of a node was the newest. */
export class StepSearch {
  readonly #nodeId: NodeId
  /** Calls without a result in the searched reply. */
  #open: Set<string> | undefined
  #stepEnd: NodeId = 0
  #lastNodeId: NodeId = 0

  constructor(nodeId: NodeId) {
    this.#nodeId = nodeId
  }

  /** The highest node id so far. */
  get lastNodeId(): NodeId {
    return this.#lastNodeId
  }

  /** Number of results still missing from the step; 0 if the step was not found. */
  get missingResults(): number {
    return this.#open?.size ?? 0
  }

  /** Takes the next record. Returns the newest node if this record completes the searched step. */
  next(record: LogRecord): NodeId | undefined {
    switch (record.type) {
      case 'agent.created':
        // Calls open in the source are not part of the fork.
        this.#open = undefined
        return undefined
      case 'message.added':
        return this.#meet(record.nodeId, record.nodeId)
      case 'reply.end':
        return this.#meetReply(record)
      case 'tool.end':
        this.#open?.delete(record.callId)
        return this.#open?.size === 0 ? this.#stepEnd : undefined
      case 'revert.applied': {
        const ids = record.rebased?.map(({ nodeId }) => nodeId) ?? []
        return ids.length === 0 ? undefined : this.#meet(ids[0]!, ids.at(-1)!)
      }
      case 'compaction.end':
        return record.applied && record.overlay !== undefined
          ? this.#meet(record.overlay.nodeId, record.overlay.nodeId)
          : undefined
      default:
        return 'copies' in record ? this.#meetCopies(record.copies) : undefined
    }
  }

  #meetReply({ nodeId, message }: RecordOf<'reply.end'>): NodeId | undefined {
    const calls = toolCallsOf(message.content)
    const end = this.#meet(nodeId, nodeId + calls.length)
    if (end === undefined || calls.length === 0) return end
    this.#open = new Set(calls.map(({ callId }) => callId))
    this.#stepEnd = end
    return undefined
  }

  /** Checks copied nodes. Copies are complete at once, so a fork at any of them holds all of them. */
  #meetCopies(copies: readonly { readonly nodeId: NodeId }[]): NodeId | undefined {
    return copies.length === 0 ? undefined : this.#meet(copies[0]!.nodeId, copies.at(-1)!.nodeId)
  }

  /** Returns `last` if the searched node is one of these. */
  #meet(first: NodeId, last: NodeId): NodeId | undefined {
    this.#lastNodeId = last
    return this.#nodeId >= first && this.#nodeId <= last ? last : undefined
  }
}
