import { inflateRawSync } from 'node:zlib'
import type { NodeId } from '../../protocol/ids.ts'
import type { NodeReader } from '../../conversation/tree/conversationTree.ts'
import type { ConversationNode } from '../../conversation/tree/node.ts'
import type { LaidOverlay } from '../../conversation/request/overlay.ts'
import type { Tag } from '../../protocol/braking.ts'
import { nodeOf, type NodeRow } from './nodeRow.ts'

const decoder = new TextDecoder()

/** Some nodes as JSON. A chunk never changes once it is made: a later checkpoint takes it over as it is. */
export interface NodeChunk {
  readonly bytes: Uint8Array
  /** True if the bytes are deflated, because no request shows the nodes for now. */
  readonly isDeflated: boolean
  /** True if the bytes are among those that several checkpoints share. */
  readonly isShared: boolean
}

/** An overlay as JSON, by the id of its summary. */
export type OverlayRow = readonly [id: NodeId, overlay: LaidOverlay]

type Row = NodeRow | OverlayRow

const nothing: Uint8Array = new Uint8Array()

/** Bit that marks the ids of overlays among those of nodes. */
export const overlayBit = 0x80_00

/** Sizes in bytes of the parts before the chunks: two numbers, then two bytes for each node and five for each chunk. */
export const sizes = { head: 8, node: 2, chunk: 5 } as const

/**
 * Nodes and overlays as bytes, in chunks that are read when one of their rows is first requested. Numbers have their
 * lowest byte first: the highest id and the number of chunks, of 32 bits; for each id the chunk that has its node or
 * overlay, counted from 1, or 0, of 16 bits, with `overlayBit` for an overlay, whose id is its summary's; for each
 * chunk its end, of 32 bits, and 1 if it is deflated. Then the chunks: JSON arrays of rows (`NodeRow`, `OverlayRow`).
 * The first chunks may lie in other, shared bytes: their ends are counted as if they stood here.
 */
export class KeptNodes implements NodeReader {
  readonly #view: DataView
  readonly chunks: readonly NodeChunk[]
  /** Rows of the chunks that were read, by chunk; `null` for a row that was taken. */
  readonly #read: (Row | null)[][] = []
  /** Position of each id's row in its chunk, if the chunk was read. */
  readonly #places: Uint32Array
  /** The highest id there may be. */
  readonly last: NodeId

  /** Reads the table of chunks. @throws RangeError: the bytes are cut off. */
  constructor(bytes: Uint8Array, shared = nothing) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.last = this.#view.getUint32(0, true)
    const count = this.#view.getUint32(4, true)
    const table = sizes.head + sizes.node * this.last
    const start = table + sizes.chunk * count
    const own = start + shared.length
    let from = start
    this.chunks = Array.from({ length: count }, (_, index) => {
      const at = table + sizes.chunk * index
      const to = this.#view.getUint32(at, true)
      const isShared = to <= own
      const chunk = isShared
        ? shared.subarray(from - start, to - start)
        : bytes.subarray(from - shared.length, to - shared.length)
      from = to
      return { bytes: chunk, isDeflated: this.#view.getUint8(at + 4) === 1, isShared }
    })
    this.#places = new Uint32Array(this.last + 1)
    if (from !== bytes.length + shared.length) throw new RangeError('nodes are missing')
  }

  #entry(id: NodeId): number {
    return id < 1 || id > this.last ? 0 : this.#view.getUint16(sizes.head + sizes.node * (id - 1), true)
  }

  /** Returns the index of the chunk that has a node or an overlay; -1 if there is none with this id. */
  chunkOf(id: NodeId): number {
    return (this.#entry(id) & ~overlayBit) - 1
  }

  /** Returns a node and releases its row: the next call reads the row again. */
  take(id: NodeId, tags: readonly Tag[]): ConversationNode | undefined {
    const entry = this.#entry(id)
    if (entry === 0 || (entry & overlayBit) !== 0) return undefined
    const row = this.#takeRow(id) as NodeRow | undefined
    return row && nodeOf(row, tags)
  }

  /** Returns an overlay and releases its row, like `take`. */
  readOverlay(id: NodeId): LaidOverlay | undefined {
    if ((this.#entry(id) & overlayBit) === 0) return undefined
    return (this.#takeRow(id) as OverlayRow | undefined)?.[1]
  }

  #takeRow(id: NodeId): Row | undefined {
    const place = this.chunkOf(id)
    const at = this.#places[id] ?? 0
    let rows = this.#read[place]
    if (rows?.[at] == null) this.#read[place] = rows = this.#rowsIn(place)
    const row = rows[this.#places[id]!]
    rows[this.#places[id]!] = null
    return row ?? undefined
  }

  #rowsIn(place: number): (Row | null)[] {
    const { bytes, isDeflated } = this.chunks[place]!
    const text = decoder.decode(isDeflated ? inflateRawSync(bytes) : bytes)
    const rows = JSON.parse(text) as Row[]
    // A row that has changed since stands in a later chunk.
    rows.forEach(([id], at) => {
      if (this.chunkOf(id) === place) this.#places[id] = at
    })
    return rows
  }
}
