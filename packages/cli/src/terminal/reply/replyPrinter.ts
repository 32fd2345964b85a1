import type { Screen } from '../screen.ts'
import { addToReply, emptyReply, restOfReply, type GrowingReply } from './growingReply.ts'
import type { ReplyLook } from './spanRuns.ts'

/** Prints replies as they come. */
export interface ReplyPrinter {
  add(text: string): void
  /** Writes the rest of a reply; the next text begins another. */
  end(): void
}

/** The parts of a screen that a reply printer needs. */
export interface GrowingScreen {
  columns(): number | undefined
  grow: NonNullable<Screen['grow']>
}

/** Prints replies as Markdown on a screen that can redraw rows. */
export function replyPrinter(screen: GrowingScreen, look: ReplyLook): ReplyPrinter {
  let reply = emptyReply
  const widthOf = (): number => screen.columns() ?? usualColumns
  /** Lines laid out last. They are cached because the status below is drawn every second and the input line at every key. */
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
/** Maximum number of characters redrawn with every piece, more than any screen holds. */
const mostDrawn = 20_000
