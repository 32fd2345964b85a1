import { deflateRawSync } from 'node:zlib'
import type { NodeId } from '../../protocol/ids.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import { jsonBytes } from './sharedState.ts'
import { KeptNodes, overlayBit, sizes, type NodeChunk, type OverlayRow } from './keptNodes.ts'
import { rowOf, type NodeRow } from './nodeRow.ts'

/** Compression level, for speed rather than size: messages of people and tools shrink to a third or less. */
const level = 1

/** Sizes by which the nodes of a conversation are divided into chunks. */
export interface ChunkSizes {
  /** Bytes of JSON after which a chunk is full. */
  readonly full: number
  /** Minimum bytes of JSON of hidden nodes that are worth deflating. */
  readonly worthIt: number
}

const usual: ChunkSizes = { full: 64 * 1_024, worthIt: 32 * 1_024 }

interface Chunk extends NodeChunk {
  readonly ids: readonly NodeId[]
}

/** Nodes and overlays in the form that `KeptNodes` reads: their table, then their chunks, the first of which several checkpoints share. */
export interface NodePieces {
  readonly table: Uint8Array
  readonly shared: readonly Uint8Array[]
  readonly own: readonly Uint8Array[]
}

/** Returns the chunks that a conversation was opened with unchanged, and one more chunk with everything new or changed since. */
export function addNodes(conversation: Conversation): NodePieces {
  const { stay, fresh } = divided(conversation)
  const pool = new Pool()
  for (const id of fresh) {
    const row = rowIn(conversation, id)
    if (row !== undefined) pool.add(row)
  }
  return piecesOf(conversation, pool.size > 0 ? [...stay, pool.take(false)] : stay)
}

/** Divides the nodes into those unchanged in their chunks, and the others. */
function divided(conversation: Conversation): { stay: Chunk[]; fresh: NodeId[] } {
  const { lastNodeId } = conversation
  const kept = conversation.kept instanceof KeptNodes ? conversation.kept : undefined
  const ids = (kept?.chunks ?? []).map((): NodeId[] => [])
  const fresh: NodeId[] = []
  for (let id = 1; id <= lastNodeId; id += 1) {
    const place = conversation.hasChanged(id) ? -1 : (kept?.chunkOf(id) ?? -1)
    ;(ids[place] ?? fresh).push(id)
  }
  return { stay: (kept?.chunks ?? []).map((chunk, place) => ({ ...chunk, ids: ids[place]! })), fresh }
}

/**
 * Returns the nodes and overlays of a conversation in the form that `KeptNodes` reads. Nodes that no request shows go into deflated chunks and stay
 * there, so that there is little to read when the agent is opened. Full chunks are reused if all their nodes are still shown and unchanged.
 */
export function keepNodes(conversation: Conversation, { full, worthIt } = usual): NodePieces {
  const isShown = shownIn(conversation)
  const { stay: were, fresh } = divided(conversation)
  const stay: Chunk[] = []
  for (const chunk of were) {
    const { ids, bytes, isDeflated } = chunk
    if (ids.length === 0) continue
    if (isDeflated || (bytes.length >= full && ids.every(isShown))) stay.push(chunk)
    else fresh.push(...ids)
  }
  const pools = { shown: new Pool(), hidden: new Pool() }
  for (const id of fresh.toSorted((a, b) => a - b)) {
    const row = rowIn(conversation, id)
    if (row === undefined) continue
    const isDeflated = !isShown(id)
    const pool = isDeflated ? pools.hidden : pools.shown
    pool.add(row)
    if (pool.size >= full) stay.push(pool.take(isDeflated))
  }
  // Few hidden nodes are not deflated, so that the next checkpoint puts them together with others, but they are not read with those shown.
  if (pools.hidden.size > 0) stay.push(pools.hidden.take(pools.hidden.size >= worthIt))
  if (pools.shown.size > 0) stay.push(pools.shown.take(false))
  return piecesOf(
    conversation,
    stay.map((chunk) => ({ ...chunk, isShared: true })),
  )
}

function rowIn(conversation: Conversation, id: NodeId): NodeRow | OverlayRow | undefined {
  const node = conversation.node(id)
  if (node !== undefined) return rowOf(node)
  const overlay = conversation.overlays.get(id)
  return overlay && [id, overlay]
}

/** Returns a predicate for the nodes and overlays that requests currently show. */
function shownIn(conversation: Conversation): (id: NodeId) => boolean {
  const { overlay, annotations } = conversation
  const kept = new Set(overlay?.kept)
  const isHidden = (id: NodeId): boolean => annotations?.hiddenBy(conversation.node(id)!.stepId) !== undefined
  const hides = (annotations?.hidden.spans.length ?? 0) > 0
  return (id) => {
    if (!conversation.onTrunk(id)) return id === overlay?.nodeId
    if (overlay !== undefined && id >= overlay.from && id <= overlay.to) return kept.has(id)
    return !hides || !isHidden(id)
  }
}

/** Rows that will become one chunk. */
class Pool {
  #ids: NodeId[] = []
  #texts: string[] = []
  /** Approximate length of the rows as JSON, in UTF-16 units. */
  size = 0

  add(row: NodeRow | OverlayRow): void {
    const text = JSON.stringify(row)
    this.#ids.push(row[0])
    this.#texts.push(text)
    this.size += text.length + 1
  }

  take(isDeflated: boolean): Chunk {
    const json = jsonBytes(`[${this.#texts.join()}]`)
    const bytes = isDeflated ? deflateRawSync(json, { level }) : json
    const chunk = { ids: this.#ids, bytes, isDeflated, isShared: false }
    this.#ids = []
    this.#texts = []
    this.size = 0
    return chunk
  }
}

function piecesOf({ lastNodeId: last, overlays: laid }: Conversation, chunks: readonly Chunk[]): NodePieces {
  const overlays = new Set(laid.spans.map(({ nodeId }) => nodeId))
  const table = sizes.head + sizes.node * last
  let end = table + sizes.chunk * chunks.length
  const bytes = new Uint8Array(end)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, last, true)
  view.setUint32(4, chunks.length, true)
  chunks.forEach((chunk, place) => {
    for (const id of chunk.ids)
      view.setUint16(sizes.head + sizes.node * (id - 1), (place + 1) | (overlays.has(id) ? overlayBit : 0), true)
    end += chunk.bytes.length
    view.setUint32(table + sizes.chunk * place, end, true)
    view.setUint8(table + sizes.chunk * place + 4, chunk.isDeflated ? 1 : 0)
  })
  const those = (isShared: boolean): Uint8Array[] =>
    chunks.filter((chunk) => chunk.isShared === isShared).map((chunk) => chunk.bytes)
  return { table: bytes, shared: those(true), own: those(false) }
}
