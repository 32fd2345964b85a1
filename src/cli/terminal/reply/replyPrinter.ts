import type { Screen } from '../screen.ts'
import { addToReply, emptyReply, restOfReply, type GrowingReply } from './growingReply.ts'
import type { ReplyLook } from './spanRuns.ts'

/** Prints replies as they come. */
export interface ReplyPrinter {
  add(text: string): void
  /** Writes what is left of a reply; the next text begins another. */
  end(): void
}

/** What it needs of a screen. */
export interface GrowingScreen {
  columns(): number | undefined
  grow: NonNullable<Screen['grow']>
}

/** Prints replies as Markdown on a screen that can draw rows again. */
export function replyPrinter(screen: GrowingScreen, look: ReplyLook): ReplyPrinter {
  let reply = emptyReply
  const widthOf = (): number => screen.columns() ?? usualColumns
  /** The status below is drawn every second, and the line at every key. */
  let drawn: { readonly of: GrowingReply; readonly columns: number; readonly lines: readonly string[] } | undefined
  const rest = (columns: number): readonly string[] => {
    if (drawn?.of !== reply || drawn.columns !== columns)
      drawn = { of: reply, columns, lines: restOfReply(reply, look, columns, mostDrawn) }
    return drawn.lines
  }
  return {
    add(text) {
      if (text === '') return
      const step = addToReply(reply, text, look, widthOf())
      reply = step.reply
      screen.grow(step.lines, rest)
    },
    end() {
      if (reply === emptyReply) return
      const left = restOfReply(reply, look, widthOf())
      reply = emptyReply
      screen.grow(left)
    },
  }
}

const usualColumns = 80
/** Characters of a text that are drawn again with every piece: more than any screen has. */
const mostDrawn = 20_000
