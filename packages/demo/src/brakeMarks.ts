import { textOf } from '../../../src/protocol/messages.ts'
import type { RequestMessage } from '../../../src/protocol/ports/model.ts'

/** Matches the last line of a text if brakes are on: the id of its step. */
const idLine = /\n\[(n\d+)\]$/

export const idIn = (text: string): string | undefined => idLine.exec(text)?.[1]

export const withoutId = (text: string): string => text.replace(idLine, '')

/** Reads a text that a brake has inserted: the kind of note, and its content. */
export function noteIn(text: string): { readonly kind: string; readonly note: string } | undefined {
  const [, kind, note] = /^<brake-note kind="([\w-]+)"[^>]*>([^]*)<\/brake-note>$/.exec(text) ?? []
  return kind === undefined || note === undefined ? undefined : { kind, note }
}

/** Returns the text of a message without the marks of brakes. `undefined` if there is no other text. */
export function withoutMarks({ content }: Pick<RequestMessage, 'content'>): string | undefined {
  const own = content.filter((block) => block.type !== 'text' || !block.text.startsWith('<brake-note '))
  return own.length === 0 && content.length > 0 ? undefined : withoutId(textOf(own))
}
