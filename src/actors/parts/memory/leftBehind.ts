import type { Tag } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { LogRecord } from '../../../protocol/records.ts'

/** Content that the model no longer sees: folded steps, a compacted span, or the steps abandoned by a revert, by its tag. */
export type Left =
  | { readonly type: 'steps'; readonly steps: readonly NodeId[] }
  | { readonly type: 'span'; readonly from: NodeId; readonly to: NodeId }
  | { readonly type: 'tag'; readonly tag: Tag }

/** Maximum number of items that wait to be searched. The oldest is dropped first. */
const mostItems = 50

/** Content that an agent's memory has not searched yet, collected from the agent's records. */
export class LeftBehind {
  #items: Left[]

  constructor(kept: readonly Left[] = []) {
    this.#items = [...kept]
  }

  get items(): readonly Left[] {
    return this.#items
  }

  apply(record: LogRecord): void {
    if (record.type === 'memory.extracted' || record.type === 'agent.created') {
      // A fork's past is looked through by whom it is shared with.
      this.#items = []
      return
    }
    const left = leftBy(record)
    if (left === undefined) return
    this.#items.push(left)
    if (this.#items.length > mostItems) this.#items.shift()
  }
}

function leftBy(record: LogRecord): Left | undefined {
  switch (record.type) {
    case 'prune.applied':
      return record.by === 'runtime' && record.applied && record.masked !== true
        ? { type: 'steps', steps: record.steps }
        : undefined
    case 'compaction.end': {
      const { overlay } = record
      return overlay === undefined ? undefined : { type: 'span', from: overlay.from, to: overlay.to }
    }
    case 'revert.applied': {
      const { tag } = record
      return tag?.kind === 'lesson' || tag?.kind === 'finding' ? { type: 'tag', tag } : undefined
    }
    default:
      return undefined
  }
}
