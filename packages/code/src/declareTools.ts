import { declarationOf } from '../../tools/src/finding/declaration.ts'
import type { Callable } from './callables.ts'

const guide = `Run a script that calls tools as functions, to do in one step what takes many calls: read a hundred files, filter, compare, change what fits. Only what the script prints and returns comes back to you, so return little.
The script is the body of an async function in JavaScript; types of TypeScript are taken away. Write "await" and "return" at the top.
- Call tools with "await tools.name(input)", several at once with Promise.all. A call gives the tool's data, or its text as a string.
- A call that fails throws a ToolError with "message" and "code"; a script may catch it and go on. DENIED: people or rules said no.
- "await sleep(ms)" waits, or "await sleep('2027-03-01T09:00:00Z')" until a time.
- console.log prints. Beside tools there is nothing: no network, no files, no modules, no other timers.`

const ofAgents =
  'Agents are called in the same way: each call starts one, gives it a task, and gives its answer as a string, or as data if a type says so.'

const mostNames = 400

interface Declared {
  readonly tools: readonly Callable[]
  /** The sub-agents. `undefined`: they are not known yet. */
  readonly agents: readonly Callable[] | undefined
  /** Names of sources, whose tools are not known yet. */
  readonly sources: readonly string[]
  readonly maxChars: number
}

/** Returns the text that tells a model about scripts and the functions they can call. Pure. */
export function describeTools({ tools, agents, sources, maxChars }: Declared): string {
  let left = maxChars
  let isFull = false
  const declared = (all: readonly Callable[]): string[] => {
    const shown: string[] = []
    for (const one of isFull ? [] : all) {
      const text = declarationOf(one)
      isFull = text.length > left
      if (isFull) break
      left -= text.length
      shown.push(text)
    }
    return shown
  }
  const shownTools = declared(tools)
  const shownAgents = declared(agents ?? [])
  const rest = [...tools.slice(shownTools.length), ...(agents ?? []).slice(shownAgents.length)]
  const names = rest.map(({ name }) => name)
  const listed = names.slice(0, mostNames)
  const more = names.length > listed.length ? ` and ${names.length - listed.length} more` : ''
  const also = [
    ...(listed.length === 0 ? [] : [`${listed.join(', ')}${more}`]),
    ...sources.map((source) => `those of ${source}`),
    ...(agents === undefined ? ['agents'] : []),
  ]
  const find =
    also.length === 0
      ? []
      : [
          `There are further tools: ${also.join('; ')}. "await tools.$find('words')" gives their declarations, and "tools.$call(name, input)" calls one by its name.`,
        ]
  return [
    guide,
    ...(shownTools.length === 0 ? [] : ['The tools:', ...shownTools]),
    ...(shownAgents.length === 0 ? [] : [ofAgents, ...shownAgents]),
    ...find,
  ].join('\n\n')
}
