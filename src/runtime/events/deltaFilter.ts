import type { LiveBody } from '../../actors/agentPorts.ts'
import { isDelta, type DeltaEvent } from '../../protocol/events.ts'
import { RedactedStream } from '../../redaction/redactedStream.ts'
import type { Redactor } from '../../redaction/redactor.ts'

type Delta = Extract<LiveBody, { type: DeltaEvent['type'] }>

/** Removes secrets from the live events of one reply, including its deltas, even if a secret arrives in pieces. */
export class DeltaFilter {
  readonly #redactor: Redactor
  readonly #streams = new Map<string, { readonly stream: RedactedStream; last: Delta }>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** The event without secrets; `undefined` if its text is held back until more has arrived. */
  filter(body: LiveBody): LiveBody | undefined {
    if (!isDelta(body)) return this.#redactor.value(body)
    const name = body.type === 'toolCall.delta' ? `${body.type} ${body.callId}` : body.type
    const entry = this.#streams.get(name) ?? { stream: new RedactedStream(this.#redactor), last: body }
    // Other fields, such as a tool's name, arrive whole.
    entry.last = { ...this.#redactor.value({ ...body, text: '' }), text: body.text }
    this.#streams.set(name, entry)
    return shown(entry.last, entry.stream.push(body.text))
  }

  /** What is still held back, at the end of the reply. */
  end(): LiveBody[] {
    return [...this.#streams.values()].flatMap(({ stream, last }) => shown(last, stream.end()) ?? [])
  }
}

const shown = (body: Delta, piece: { text: string; offset: number } | undefined): Delta | undefined => {
  if (piece === undefined) return undefined
  return body.type === 'toolCall.delta' ? { ...body, text: piece.text } : { ...body, ...piece }
}
