import { KnownIds, type KeptIds } from '../protocol/knownIds.ts'
import type { LogRecord } from '../protocol/records.ts'

/** What is kept of them. */
export interface KeptRequests {
  readonly ids: KeptIds
  readonly beginning?: { readonly requestId: string; readonly unsaid: number } | undefined
}

/**
 * Ids of all requests in an agent's log, however old, so that one that is sent again is recognised. Built once from the log, and
 * updated with every record since.
 */
export class RequestIndex {
  readonly #ids: KnownIds
  /** A run counts once all its first messages are recorded. */
  #beginning: { readonly requestId: string; unsaid: number } | undefined

  /** `kept`: where its records go on from. */
  constructor({ ids, beginning }: Partial<KeptRequests> = {}) {
    this.#ids = new KnownIds(ids)
    this.#beginning = beginning && { ...beginning }
  }

  /** As plain JSON. */
  keep(): KeptRequests {
    return { ids: this.#ids.keep(), beginning: this.#beginning }
  }

  has(requestId: string): boolean {
    return this.#ids.has(requestId)
  }

  /** Whether a run has begun whose first messages are not all recorded: so far it counts for nothing. */
  get isBeginning(): boolean {
    return this.#beginning !== undefined
  }

  /** Adds the next record. */
  apply(record: LogRecord): void {
    // What was asked elsewhere was not asked here.
    if (record.foreign === true) return
    switch (record.type) {
      case 'run.start': {
        const { requestId, cause, messages = 1 } = record
        this.#beginning = { requestId, unsaid: cause === 'resume' ? 0 : messages }
        return this.#begin()
      }
      case 'message.added':
        if (this.#beginning === undefined) return
        this.#beginning.unsaid -= 1
        return this.#begin()
      case 'queue.changed':
        return this.#add(record.added?.id)
      case 'revert.requested':
      case 'prune.requested':
      case 'compaction.requested':
      case 'graft.requested':
      case 'pin.requested':
      case 'policy.requested':
        return this.#add(record.request.id)
      case 'use.changed':
        return this.#add(record.requestId)
      case 'approval.decided':
      case 'question.answered':
        return this.#add(record.requestId)
      case 'tool.end':
        return this.#add(record.returned?.requestId)
      case 'run.end':
        this.#beginning = undefined
        return this.#add(record.requestId)
      default:
    }
  }

  #begin(): void {
    if (this.#beginning === undefined || this.#beginning.unsaid > 0) return
    this.#add(this.#beginning.requestId)
    this.#beginning = undefined
  }

  #add(requestId: string | undefined): void {
    if (requestId !== undefined) this.#ids.add(requestId)
  }
}
