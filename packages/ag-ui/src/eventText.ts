import { EventType, type Event } from '@ag-ui/core'
import { piecesOf, serverSent } from '../../bridge/src/streams/piecesOf.ts'

/** A server-sent event in pieces: a conversation is turned into text one message at a time. */
export function* eventText(event: Event): Generator<string, void, undefined> {
  if (event.type !== EventType.MESSAGES_SNAPSHOT) return yield* serverSent(event)
  const { messages, ...rest } = event
  let before = `data: ${JSON.stringify(rest).slice(0, -1)},"messages":[`
  for (const message of messages) {
    yield* piecesOf(before + JSON.stringify(message))
    before = ','
  }
  yield before === ',' ? ']}\n\n' : `${before}]}\n\n`
}
