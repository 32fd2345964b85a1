import { deflateRawSync } from 'node:zlib'
import type { NodeId } from '../../protocol/ids.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import { jsonBytes } from './jsonBytes.ts'
import { KeptNodes, overlayBit, sizes, type NodeChunk, type OverlayRow } from './keptNodes.ts'
import { rowOf, type NodeRow } from './nodeRow.ts'

/** Fast rather than small: messages of people and tools shrink to a third or less. */
const level = 1

/** How the nodes of a conversation are divided. */
export interface ChunkSizes {
  /** Bytes of JSON after which a chunk is full. */
  readonly full: number
  /** Bytes of JSON of hidden nodes that are worth being deflated. */
  readonly worthIt: number
}

const usual: ChunkSizes = { full: 64 * 1_024, worthIt: 32 * 1_024 }

interface Chunk extends NodeChunk {
  readonly ids: readonly NodeId[]
}

/**
 * Returns the nodes and overlays of a conversation as `KeptNodes` reads them, in pieces that follow one another. Nodes that no request shows go into deflated chunks, which stay
 * there, so that there is little to read when the agent is opened. Full chunks are taken over if all their nodes are still shown and unchanged.
 */
export function keepNodes(conversation: Conversation, { full, worthIt } = usual): readonly Uint8Array[] {
  const { lastNodeId } = conversation
  const kept = conversation.kept instanceof KeptNodes ? conversation.kept : undefined
  const isShown = shownIn(conversation)
  const ids = (kept?.chunks ?? []).map((): NodeId[] => [])
  const fresh: NodeId[] = []
  for (let id = 1; id <= lastNodeId; id += 1) {
    const place = conversation.hasChanged(id) ? -1 : (kept?.chunkOf(id) ?? -1)
    ;(ids[place] ?? fresh).push(id)
  }
  const stay = (kept?.chunks ?? []).flatMap((chunk, place): Chunk[] => {
    const has = { ...chunk, ids: ids[place]! }
    if (has.ids.length === 0) return []
    if (chunk.isDeflated || (chunk.bytes.length >= full && has.ids.every(isShown))) return [has]
    fresh.push(...has.ids)
    return []
  })
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
  return piecesOf(lastNodeId, stay, new Set(conversation.overlays.spans.map(({ nodeId }) => nodeId)))
}

function rowIn(conversation: Conversation, id: NodeId): NodeRow | OverlayRow | undefined {
  const node = conversation.node(id)
  if (node !== undefined) return rowOf(node)
  const overlay = conversation.overlays.get(id)
  return overlay && [id, overlay]
}

/** Returns a test for the nodes and overlays that requests show at present. */
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
  /** How long they are, about. */
  size = 0

  add(row: NodeRow | OverlayRow): void {
    const text = JSON.stringify(row)
    this.#ids.push(row[0])
    this.#texts.push(text)
    this.size += text.length + 1
  }

  take(isDeflated: boolean): Chunk {
    const json = jsonBytes(`[${this.#texts.join()}]`)
    const chunk = { ids: this.#ids, bytes: isDeflated ? deflateRawSync(json, { level }) : json, isDeflated }
    this.#ids = []
    this.#texts = []
    this.size = 0
    return chunk
  }
}

function piecesOf(last: NodeId, chunks: readonly Chunk[], overlays: ReadonlySet<NodeId>): readonly Uint8Array[] {
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
  return [bytes, ...chunks.map((chunk) => chunk.bytes)]
}
