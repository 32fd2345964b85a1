import type { ToolSpec } from '../../../../src/index.ts'
import { textTokens } from '../measure/tokens.ts'
import { proseOf } from './codebase.ts'
import { prose } from './project.ts'
import type { Random } from './random.ts'
import { tool } from './toolSpec.ts'

export const codingTools: readonly ToolSpec[] = [
  tool('read_file', 'Reads a file of the project.', 'path', 'offset', 'limit'),
  tool('search', 'Lists the lines that match a pattern, with their files.', 'pattern'),
  tool('edit_file', 'Replaces a text that stands once in a file.', 'path', 'old', 'new'),
  tool('run_command', 'Runs a shell command and gives its output.', 'command'),
]

export const terminalTools: readonly ToolSpec[] = [codingTools[3]!]

export const chatTools: readonly ToolSpec[] = [
  tool('find_order', 'Finds an order by its number.', 'order'),
  tool('find_customer', 'Finds a customer by name or address.', 'customer'),
  tool('refund', 'Pays money back for an order.', 'order', 'amount'),
]

export const browserTools: readonly ToolSpec[] = [
  tool('open_page', 'Opens an address and shows the page.', 'url'),
  tool('click', 'Clicks on an element and shows the page.', 'element'),
]

const services = ['tracker', 'calendar', 'warehouse', 'mailbox', 'dashboard', 'wiki']
const actions = ['create', 'list', 'update', 'find', 'archive', 'assign', 'export', 'comment']
const things = ['issue', 'page', 'event', 'table', 'thread', 'board', 'label', 'member']

/** Part of a frame of 4,000 tokens and more that tools of servers take. */
const serverShare = 0.5
const smallFrame = 4_000

/** System prompt and tools of about so many tokens: own tools first, then, if there is much room, those of servers. */
export function frameOf(
  random: Random,
  tokens: number,
  own: readonly ToolSpec[],
): { readonly system: string; readonly tools: readonly ToolSpec[] } {
  const room = tokens < smallFrame ? 0 : tokens * serverShare
  const tools = [...own]
  const size = (): number => textTokens(JSON.stringify(tools))
  for (let left = room - size(); left > 0; left = room - size()) tools.push(serverTool(random, tools.length))
  const system = `You are an agent. ${proseOf(random, Math.max(100, tokens - size()))}.`
  return { system, tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

function serverTool(random: Random, at: number): ToolSpec {
  const name = `${random.pick(services)}_${random.pick(actions)}_${random.pick(things)}_${at}`
  const { inputSchema, ...spec } = tool(name, `${prose(random, random.between(40, 100))}.`)
  const fields = Array.from({ length: random.between(3, 9) }, (_, index): [string, object] => [
    `${random.pick(things)}_${index}`,
    { type: 'string', description: prose(random, random.between(8, 25)) },
  ])
  return { ...spec, inputSchema: { ...inputSchema, properties: Object.fromEntries(fields) } }
}
