import type { CliHost } from '../cliHost.ts'
import { counted } from '../../charts/amounts.ts'
import { columnsOf } from '../sessionLogs.ts'
import { coloursFor } from './colours.ts'
import { conversationTree } from './conversationTree.ts'

const maxLines = 12

/** The end of a conversation so far, a line for each step. */
export function recap(conversation: Parameters<typeof conversationTree>[0], host: CliHost): string {
  const colours = coloursFor(host.stdout, host.env)
  const tree = conversationTree(conversation, colours, columnsOf(host))
  const left = tree.length - maxLines
  const shown = left <= 0 ? tree : [colours.dim(`… ${counted(left, 'line')} before`), ...tree.slice(left)]
  return shown.map((line) => `${line}\n`).join('')
}
