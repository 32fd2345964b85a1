import { declarationOf } from '../../../src/actors/tools/declaration.ts'
import type { AnyTool } from '../../../src/actors/tools/defineTool.ts'

const guide = `Run a script that calls tools as functions, to do in one step what takes many calls: read a hundred files, filter, compare, change what fits. Only what the script prints and returns comes back to you, so return little.
The script is the body of an async function in JavaScript; types of TypeScript are taken away. Write "await" and "return" at the top.
- Call tools with "await tools.name(input)", several at once with Promise.all. A call gives the tool's data, or its text as a string.
- A call that fails throws a ToolError with "message" and "code"; a script may catch it and go on. DENIED: people or rules said no.
- console.log prints. Beside tools there is nothing: no network, no files, no modules, no timers.`

const mostNames = 400

interface Declared {
  readonly tools: readonly AnyTool[]
  /** Names of sources, whose tools are not known yet. */
  readonly sources: readonly string[]
  readonly maxChars: number
}

/** Returns what a model reads about scripts and the tools that they can call. Pure. */
export function describeTools({ tools, sources, maxChars }: Declared): string {
  const shown: string[] = []
  let chars = 0
  for (const tool of tools) {
    const text = declarationOf(tool)
    if (chars + text.length > maxChars) break
    chars += text.length
    shown.push(text)
  }
  const names = tools.slice(shown.length).map(({ name }) => name)
  const listed = names.slice(0, mostNames)
  const more = names.length > listed.length ? ` and ${names.length - listed.length} more` : ''
  const also = [
    ...(listed.length === 0 ? [] : [`${listed.join(', ')}${more}`]),
    ...sources.map((source) => `those of ${source}`),
  ]
  const find =
    also.length === 0
      ? []
      : [
          `There are further tools: ${also.join('; ')}. "await tools.$find('words')" gives their declarations, and "tools.$call(name, input)" calls one by its name.`,
        ]
  return [guide, ...(shown.length === 0 ? [] : ['The tools:', ...shown]), ...find].join('\n\n')
}
