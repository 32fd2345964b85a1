import type { NodeId } from '../protocol/ids.ts'
import type { ConversationNode } from './node.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
/** Bytes of a number. */
const wide = 4
const nothing = new Uint8Array(0)
const noTags: readonly never[] = Object.freeze([])

/**
 * Nodes as bytes, each of which is read when it is first asked for: how many there may be, where each begins, and where the last ends, as
 * 32-bit numbers with the lowest byte first; then each as JSON, without its tags. Ids of summaries have no bytes.
 */
export class KeptNodes {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  /** The highest id there may be. */
  readonly last: NodeId

  /** @throws RangeError: the bytes are cut off. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.last = this.#view.getUint32(0, true)
    if (this.#start(this.last + 1) !== bytes.length) throw new RangeError('nodes are missing')
  }

  #start(id: NodeId): number {
    return this.#view.getUint32(wide * id, true)
  }

  /** The bytes of a node; `undefined`: there is none of this id. */
  bytesOf(id: NodeId): Uint8Array | undefined {
    if (id < 1 || id > this.last) return undefined
    const [from, to] = [this.#start(id), this.#start(id + 1)]
    return from === to ? undefined : this.#bytes.subarray(from, to)
  }

  /** A node without its tags; another object each time. */
  read(id: NodeId): ConversationNode | undefined {
    const bytes = this.bytesOf(id)
    return bytes === undefined ? undefined : (JSON.parse(decoder.decode(bytes)) as ConversationNode)
  }
}

/** The nodes of a conversation as `KeptNodes` reads them. */
export function keepNodes(conversation: {
  readonly lastNodeId: NodeId
  asKept(id: NodeId): ConversationNode | Uint8Array | undefined
}): Uint8Array<ArrayBuffer> {
  const last = conversation.lastNodeId
  const parts: Uint8Array[] = []
  const starts = new Uint32Array(last + 1)
  let end = wide * (last + 2)
  for (let id = 1; id <= last; id += 1) {
    starts[id - 1] = end
    const found = conversation.asKept(id)
    const part = found === undefined ? nothing : found instanceof Uint8Array ? found : bytesOf(found)
    parts.push(part)
    end += part.length
  }
  starts[last] = end
  const bytes = new Uint8Array(end)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, last, true)
  starts.forEach((start, index) => view.setUint32(wide * (index + 1), start, true))
  let at = starts[0]!
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const bytesOf = (node: ConversationNode): Uint8Array => encoder.encode(JSON.stringify({ ...node, tags: noTags }))
