import type { AgentPolicy } from '../../../machines/agentPolicy.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import { waitForName } from '../../tools/waitForTool.ts'
import { agentPart } from '../agentPart.ts'
import { DeferredTools } from '../deferred/deferred.ts'
import { backgroundTools, cancelCallName, checkCallName } from './backgroundTools.ts'

/** The part for calls in the background. The tools say which of their calls these are. */
export const backgroundPart = agentPart<object, object>({
  options: {},
  settings: () => ({}),
  tools: ({ tools }: { readonly tools?: unknown }) => (hasBackground(tools) ? backgroundTools() : []),
  toolNames: [waitForName, cancelCallName, checkCallName],
})

function hasBackground(tools: unknown): boolean {
  if (!Array.isArray(tools)) return false
  return tools.some((entry: unknown) =>
    entry instanceof DeferredTools
      ? hasBackground(entry.entries)
      : (entry as Partial<AnyTool> | null)?.background !== undefined,
  )
}

/** Returns the names of the tools whose calls go to the background; an empty object if there are none. */
export function backgroundPolicy(tools: ReadonlyMap<string, AnyTool>, max: number): Pick<AgentPolicy, 'background'> {
  const named = (when: 'always' | 'choice'): string[] =>
    [...tools.values()].flatMap(({ name, background }) => (background?.when === when ? [name] : []))
  const [always, choice] = [named('always'), named('choice')]
  return always.length + choice.length === 0 ? {} : { background: { always, choice, max } }
}
