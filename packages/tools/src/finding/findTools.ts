import { z } from 'zod'
import { nearWords } from '../../../../src/protocol/checks/nearestWord.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { callToolName, findToolsName } from '../../../../src/protocol/viaCallTool.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { BoundCall } from '../../../../src/actors/tools/boundCall.ts'
import { declarationOf, type Declarable } from './declaration.ts'
import type { ToolSpec } from '../../../../src/protocol/ports/model.ts'
import { defineTool, type Tool } from '../../../../src/actors/tools/defineTool.ts'
import { SourceTool } from '../../../../src/actors/tools/sourceTool.ts'
import { isDeferred } from '../../../../src/actors/parts/deferred/deferral.ts'
import { foundSpecs } from '../../../../src/actors/parts/deferred/foundSpecs.ts'
import { indexOf, searchTools, type ToolIndex } from './searchTools.ts'

/** Maximum number of tools that an answer declares, maximum length of the declarations in characters, and maximum number of further names. */
const mostDeclared = 10
const mostChars = 24_000
const mostNames = 40
const mostGroups = 3
const mostNearest = 3
const mostAboutChars = 600

type Finding = Pick<AgentDefinition, 'tools' | 'agents' | 'deferred'>

/** The tools `find_tools` and `call_tool`. `about`: description of the tools to find. Their specifications are always the same. */
export const findingTools = (about: string): readonly Tool[] => [findTools(about), callTool()]

const findTools = (about: string): Tool =>
  defineTool({
    name: findToolsName,
    description: `Find tools that are not listed here, by words of what they do or by their names. There are tools for: ${cutEnd(about, mostAboutChars)}. Call what it finds with ${callToolName}.`,
    effects: 'none',
    input: onlyFields({ query: z.string().max(500).describe('A few words: what the tool does, and to what.') }),
    run: ({ query }) => new BoundCall(({ definition }: AgentPorts) => found(definition, query)),
  })

/** Creates `call_tool`. Only calls of unknown tools reach it, because calls of a deferred tool are run as calls of that tool. */
const callTool = (): Tool =>
  defineTool({
    name: callToolName,
    description: `Call a tool that ${findToolsName} found.`,
    effects: 'none',
    input: onlyFields({
      name: z.string().max(200).describe('The name of the tool.'),
      input: z.record(z.string(), z.unknown()).describe(`Its arguments, as ${findToolsName} declares them.`),
    }),
    run: ({ name }) =>
      new BoundCall(({ definition }: AgentPorts) => {
        throw new Error(whyNot(definition, name))
      }),
  })

/** A tool or a sub-agent that can be found, with the name of its source. */
interface Findable extends ToolSpec {
  readonly source?: string
}

const indexes = new WeakMap<object, ToolIndex<Findable>>()

function indexFor(definition: Finding): ToolIndex<Findable> {
  const index = indexes.get(definition) ?? indexOf(foundSpecs(definition).map((spec) => findable(definition, spec)))
  indexes.set(definition, index)
  return index
}

function findable({ tools }: Finding, spec: ToolSpec): Findable {
  const tool = tools.get(spec.name)
  return tool instanceof SourceTool ? { ...spec, source: tool.offer.source } : spec
}

/** Returns the declarations of the first of these tools, as many as an answer has room for. Pure. */
export function declared(tools: readonly Declarable[]): readonly string[] {
  const shown: string[] = []
  let chars = 0
  for (const tool of tools.slice(0, mostDeclared)) {
    const text = declarationOf(tool)
    if (shown.length > 0 && chars + text.length > mostChars) break
    chars += text.length
    shown.push(text)
  }
  return shown
}

/** Returns the tools that match a query, as text for the model. */
function found(definition: Finding, query: string): string {
  const index = indexFor(definition)
  const { close, others } = searchTools(index, query)
  if (close.length === 0) return nothingFound(index.tools, query)
  const shown = declared(close)
  const more = [...close.slice(shown.length), ...others]
  const names = more.slice(0, mostNames).map(({ name }) => name)
  const rest = more.length > names.length ? `, and ${more.length - names.length} more` : ''
  return [
    `Call one with ${callToolName}: {"name": …, "input": {…}}.`,
    ...shown,
    ...(more.length === 0
      ? []
      : [`Also: ${names.join(', ')}${rest}. Search for one of the names, or say more precisely what you need.`]),
  ].join('\n\n')
}

function nothingFound(tools: readonly Findable[], query: string): string {
  if (tools.length === 0) return 'There are no tools to be found at present.'
  const groups = Map.groupBy(tools, ({ source = '' }) => source)
  const told = [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, mostGroups)
    .map(([source, group]) => {
      const names = group.slice(0, 5).map(({ name }) => name)
      return `${group.length}${source === '' ? '' : ` of ${source}`} (${names.join(', ')}${group.length > 5 ? ', …' : ''})`
    })
  return `No tool has to do with ${JSON.stringify(cutEnd(query, 80))}. There are ${tools.length}: ${told.join('; ')}${groups.size > mostGroups ? '; …' : ''}. Try other words.`
}

const nearestIn = (index: ToolIndex<Findable>, query: string): readonly string[] => {
  const { close, others } = searchTools(index, query)
  return [...close, ...others].map(({ name }) => name)
}

/** Returns the reason why a call of `call_tool` was not run as a call of the tool that it names. */
function whyNot(definition: Finding, name: string): string {
  if (isDeferred(definition, name)) return `Give the arguments of "${name}" as "input".`
  if (definition.tools.has(name) || definition.agents.has(name))
    return `"${name}" is listed among your tools: call it itself, not by ${callToolName}.`
  const { tools } = indexFor(definition)
  const near = nearWords(
    name,
    tools.map((tool) => tool.name),
  )
  const alike = near.length > 0 ? near : nearestIn(indexFor(definition), name)
  const hint = alike.length === 0 ? '' : ` The nearest: ${alike.slice(0, mostNearest).join(', ')}.`
  return `There is no tool ${JSON.stringify(cutEnd(name, 80))}.${hint} Find tools with ${findToolsName}.`
}
