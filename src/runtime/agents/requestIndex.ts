import type { LogRecord } from '../../protocol/records.ts'

/**
 * Ids of the requests that an agent's log has, however long ago: one that is sent again was carried out already. Made of the log
 * once, and of every record since.
 */
export class RequestIndex {
  #ids: Set<string> | undefined
  /** A run counts once all that it says first is there. */
  #beginning: { readonly requestId: string; unsaid: number } | undefined

  has(requestId: string): boolean {
    return this.#ids?.has(requestId) === true
  }

  /** Takes in the next record. */
  apply(record: LogRecord): void {
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
        return this.#add(record.request.id)
      case 'approval.decided':
        return this.#add(record.requestId)
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
    if (requestId === undefined) return
    this.#ids ??= new Set()
    this.#ids.add(requestId)
  }
}
