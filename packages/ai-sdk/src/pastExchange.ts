import type { Sink } from '../../bridge/src/streams/durableSink.ts'
import { endingOf, writeEnding } from './endings.ts'
import type { Exchange } from './exchange.ts'
import { UiCursor } from './uiCursor.ts'
import type { UiMessageChunk } from './uiTypes.ts'

/** Writes an exchange that has ended. */
export function writePast(exchange: Exchange, sink: Sink<UiMessageChunk>): void {
  const writer = { isFull: false, write: (chunk: UiMessageChunk) => sink.write(chunk) }
  const cursor = new UiCursor(writer)
  writer.write({ type: 'start', messageId: exchange.messageId })
  cursor.pull(exchange)
  cursor.end()
  writeEnding(endingOf(exchange), exchange, writer)
  sink.end()
}
