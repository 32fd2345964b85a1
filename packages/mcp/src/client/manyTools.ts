import { z } from 'zod'
import { defineTool, neverAsks, type Tool, type ToolEffects } from '../../../../src/actors/tools/defineTool.ts'
import { printOfAll } from './toolPrint.ts'

/** Number of tools that a search shows. */
const mostFound = 10

/**
 * Two tools in place of very many, whose descriptions would fill each request: one that finds tools by words, and one that calls them. An inner
 * tool's input check and approval apply; the effects are those of the worst tool. The fingerprint of the inner tools is part of the offer: a
 * list that changes between the plan of a call and its run would otherwise run a tool that no person was asked about.
 */
export function manyTools(source: string, tools: readonly Tool[], timeoutMs: number): readonly Tool[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const unknown = (name: string): string =>
    `There is no tool "${name}" on "${source}". Find one with ${source}_find_tools.`
  const find = defineTool({
    name: `${source}_find_tools`,
    description: `Finds tools of "${source}", which has ${tools.length}, by words of what they do. Call one with ${source}_call_tool.`,
    effects: 'none',
    input: z.object({ query: z.string().max(500) }),
    maxOutputChars: 60_000,
    run: ({ query }) =>
      search(tools, query)
        .map(({ name, description, inputSchema }) => `${name}: ${description}\nInput: ${JSON.stringify(inputSchema)}`)
        .join('\n\n') || `No tool of "${source}" has to do with ${JSON.stringify(query)}. Try other words.`,
  })
  const input = z.object({ name: z.string(), input: z.record(z.string(), z.unknown()).default({}) })
  const outer = defineTool({
    name: `${source}_call_tool`,
    description: `Calls a tool of "${source}" that ${source}_find_tools found: its name, and its input as that says. (List ${printOfAll(tools)}.)`,
    effects: worst(tools),
    ...(tools.every(({ needsApproval }) => needsApproval === neverAsks)
      ? {}
      : {
          needsApproval: (call: z.output<typeof input>, context) => {
            const tool = byName.get(call.name)
            return tool === undefined ? false : tool.needsApproval(call.input, context)
          },
        }),
    input,
    timeoutMs,
    run: (call, context) => byName.get(call.name)!.run(call.input, context),
  })
  const parse: Tool['parse'] = (given) => {
    const read = outer.parse(given)
    if (!read.ok) return read
    const { name, input: inner } = read.value as z.output<typeof input>
    const tool = byName.get(name)
    if (tool === undefined) return { ok: false, message: unknown(name) }
    const checked = tool.parse(inner)
    return checked.ok ? { ok: true, value: { name, input: checked.value } } : checked
  }
  return [find, Object.freeze({ ...outer, parse })]
}

const order: readonly ToolEffects[] = ['none', 'idempotent', 'reversible', 'irreversible']

const worst = (tools: readonly Tool[]): ToolEffects =>
  order[Math.max(0, ...tools.map(({ effects }) => order.indexOf(effects)))]!

const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/**
 * Returns the tools that match a search best. A word in the name counts more than one in the description, and a rare word more than a common one.
 * Pure.
 */
export function search(tools: readonly Tool[], query: string): readonly Tool[] {
  const entries = tools.map((tool) => ({
    tool,
    name: wordsOf(tool.name),
    words: wordsOf(`${tool.name} ${tool.description}`),
  }))
  const wanted = [...new Set(wordsOf(query))]
  const begins = (words: readonly string[], word: string): boolean => words.some((other) => other.startsWith(word))
  const weights = wanted.map((word) =>
    Math.log(1 + tools.length / (1 + entries.filter(({ words }) => begins(words, word)).length)),
  )
  return entries
    .map(({ tool, name, words }) => {
      const score = wanted.reduce(
        (sum, word, index) => sum + weights[index]! * ((begins(name, word) ? 3 : 0) + (begins(words, word) ? 1 : 0)),
        0,
      )
      return { tool, score }
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, mostFound)
    .map(({ tool }) => tool)
}
