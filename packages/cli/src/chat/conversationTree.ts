import type { LogRecord } from '../../../../src/protocol/records.ts'
import { conversationModel, type ConversationSource } from '../../../charts/src/conversationModel.ts'
import { conversationText } from '../../../charts/src/conversationText.ts'
import { type Colours, coloursFor } from '../terminal/colours.ts'
import type { CliHost } from '../cliHost.ts'
import { counted } from '../../../charts/src/amounts.ts'
import { columnsOf } from '../sessions/sessionLogs.ts'

/**
 * Draws a conversation as a tree, oldest step first, like `git log --graph`: the trunk on the left, abandoned branches dimmed beside the
 * step where they branched off, notes below their step. No line is longer than `columns`. With the log's records it also shows sub-agents and
 * compactions no longer in force.
 */
export const conversationTree = (
  conversation: ConversationSource['conversation'],
  paint: Colours,
  columns = Infinity,
  records: Iterable<LogRecord> = [],
): string[] => conversationText(conversationModel({ conversation, records }), { paint, columns })

const maxLines = 12

/** Returns the end of a conversation, one line per step, at most `most` lines. */
export function recap(
  conversation: Parameters<typeof conversationTree>[0],
  host: Pick<CliHost, 'stdout' | 'env' | 'theme'>,
  most = maxLines,
): string {
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const tree = conversationTree(conversation, colours, columnsOf(host))
  const left = tree.length - most
  const shown = left <= 0 ? tree : [colours.dim(`… ${counted(left, 'line')} before`), ...tree.slice(left)]
  return shown.map((line) => `${line}\n`).join('')
}
