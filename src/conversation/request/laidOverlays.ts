import type { NodeId } from '../../protocol/ids.ts'
import type { LaidOverlay, OverlaySubject } from './overlay.ts'

/** Position of an overlay, and the id of its summary. */
export type OverlaySpan = Pick<LaidOverlay, 'nodeId' | 'from' | 'to'>

/** Reads the stored overlays, by the ids of their summaries. */
export interface OverlayReader {
  readOverlay(id: NodeId): LaidOverlay | undefined
}

const isWhole = (overlay: OverlaySpan | LaidOverlay): overlay is LaidOverlay => 'summary' in overlay

/** The overlays of a conversation, oldest first. A stored overlay is read on demand. */
export class LaidOverlays {
  readonly #all: (OverlaySpan | LaidOverlay)[]
  readonly #kept: OverlayReader | undefined

  constructor(spans: readonly OverlaySpan[] = [], kept?: OverlayReader) {
    this.#all = [...spans]
    this.#kept = kept
  }

  /** Places of the overlays, as they are kept. */
  get spans(): OverlaySpan[] {
    return this.#all.map(({ nodeId, from, to }) => ({ nodeId, from, to }))
  }

  /** Returns the newest overlay whose whole span is on the trunk. An older one applies again when a revert removes the newer. */
  active(subject: Pick<OverlaySubject, 'onTrunk'>): OverlaySpan | undefined {
    return this.#all.findLast(({ from, to }) => subject.onTrunk(from) && subject.onTrunk(to))
  }

  span(nodeId: NodeId): OverlaySpan | undefined {
    return this.#all.findLast((overlay) => overlay.nodeId === nodeId)
  }

  /** Returns the overlay of a summary. @throws Error if it is not where it was kept. */
  get(nodeId: NodeId): LaidOverlay | undefined {
    // The newest is asked for with every look at the conversation.
    const at = this.#all.findLastIndex((overlay) => overlay.nodeId === nodeId)
    const overlay = this.#all[at]
    if (overlay === undefined || isWhole(overlay)) return overlay
    const read = this.#kept?.readOverlay(nodeId)
    if (read === undefined) throw new Error(`the summary n${nodeId} is missing in what was kept`)
    return (this.#all[at] = read)
  }

  add(overlay: LaidOverlay): void {
    this.#all.push(overlay)
  }
}
