import { crc32 } from 'node:zlib'
import type { KeptConversation } from '../../conversation/tree/keptConversation.ts'
import type { Folding, KeptIds } from '../../log/fold.ts'

/** Id of state that checkpoints share, and the `seq` of the record of the first of them. */
export interface SharedName {
  readonly id: string
  readonly seq: number
}

/** The part of a kept state that contains ids. */
export interface WithIds {
  readonly conversation: KeptConversation
  /** Stored state of each of the host's folds, by the fold's name. */
  readonly folds: ReturnType<Folding['keep']>
  /** Name of the state shared with other checkpoints, whose part of `conversation` and `folds` is missing here. */
  readonly shared?: SharedName | undefined
}

/** State that an agent's checkpoints share until most of it is old: chunks of nodes, and the ids so far, of which a long log has thousands. */
export interface SharedState extends SharedName {
  readonly texts: Texts
  /** The chunks of nodes. */
  readonly nodes: Uint8Array
  /** The shared state as the store has it: a head with the texts, then the chunks. */
  readonly body: Uint8Array
}

/** Ids of calls and ids of requests, each in one text to which new ones are appended. */
type Texts = readonly [calls: string, requests: string]

const headBytes = 4

/** Returns a body: the length of the head's JSON as 32 bits with the lowest byte first, the JSON, and other pieces. */
export function bodyOf(head: unknown, pieces: readonly Uint8Array[]): Uint8Array {
  const json = jsonBytes(JSON.stringify(head))
  let end = headBytes
  const body = new Uint8Array([json, ...pieces].reduce((sum, piece) => sum + piece.length, end))
  new DataView(body.buffer).setUint32(0, json.length, true)
  for (const piece of [json, ...pieces]) {
    body.set(piece, end)
    end += piece.length
  }
  return body
}

/** Returns the JSON of a body as a value, and the bytes that follow it. */
export function readBody(body: Uint8Array): { readonly head: unknown; readonly rest: Uint8Array } {
  const end = headBytes + new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(0, true)
  return { head: JSON.parse(new TextDecoder().decode(body.subarray(headBytes, end))), rest: body.subarray(end) }
}

interface KeptRequests {
  readonly ids: KeptIds
}

const textsIn = ({ conversation, folds }: WithIds): Texts => [
  conversation.tree.callIds.joined,
  (folds['requests'] as KeptRequests).ids.joined,
]

function withTexts<T extends WithIds>(kept: T, [calls, requests]: Texts): T {
  const { tree } = kept.conversation
  const asked = kept.folds['requests'] as KeptRequests
  const callIds = { ...tree.callIds, joined: calls }
  return {
    ...kept,
    conversation: { ...kept.conversation, tree: { ...tree, callIds } },
    folds: { ...kept.folds, requests: { ...asked, ids: { ...asked.ids, joined: requests } } },
  }
}

/** Makes state that later checkpoints share, named by the number and digest of the record of this one. */
export function share(kept: WithIds, chunks: readonly Uint8Array[], seq: number, digest: string): SharedState {
  const texts = textsIn(kept)
  const body = bodyOf(texts, chunks)
  const nodes = body.subarray(body.length - chunks.reduce((sum, { length }) => sum + length, 0))
  return { id: `${digest} ${crc32(body)}`, seq, texts, nodes, body }
}

/** Reads shared state from its stored body. */
export function sharedIn(name: SharedName, body: Uint8Array): SharedState {
  const { head, rest } = readBody(body)
  return { ...name, texts: head as Texts, nodes: rest, body }
}

/** Returns a state without the shared part; `undefined` if it does not continue that part. */
export function without<T extends WithIds>({ id, seq, texts }: SharedState, kept: T): T | undefined {
  const [calls, requests] = textsIn(kept)
  if (!calls.startsWith(texts[0]) || !requests.startsWith(texts[1])) return undefined
  const rest: Texts = [calls.slice(texts[0].length), requests.slice(texts[1].length)]
  return { ...withTexts(kept, rest), shared: { id, seq } }
}

/** Returns a state with the shared part added. */
export function completed<T extends WithIds>(kept: T, { texts }: SharedState): T {
  const [calls, requests] = textsIn(kept)
  return withTexts(kept, [texts[0] + calls, texts[1] + requests])
}

const encoder = new TextEncoder()
const notAscii = /[\u0080-\uffff]/g

/** Minimum number of characters per non-ASCII character at which an escape of six characters is worth it. */
const rare = 32

/** Returns JSON as bytes. Pure ASCII is read several times as fast, so rare other characters are written as escapes. */
export function jsonBytes(json: string): Uint8Array<ArrayBuffer> {
  const others = json.match(notAscii)?.length ?? 0
  return encoder.encode(others > 0 && others <= json.length / rare ? json.replace(notAscii, escaped) : json)
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
