import type { recallName } from '../../conversation/tree/stepText.ts'
import type { AskingTool } from '../../protocol/brakes/brakeTable.ts'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import type { AgentDefinition } from './agentDefinition.ts'
import type { AgentEntries } from './agentEntries.ts'
import type { EntryOf, ToolEntries, ToolsIn } from './toolEntries.ts'
import type { Tool } from '../tools/defineTool.ts'
import type { ToolSource } from '../tools/toolSource.ts'

/** Only for the type checker: marks calls whose names are not known. */
declare const others: unique symbol

interface OtherCalls {
  readonly [others]?: never
}

/** Types of a tool's calls: the arguments, and the data of the results. */
export interface CallTypes<out Input, out Data> {
  readonly input: Input
  readonly data: Data
}

/** The arguments and data of an agent's calls, by name, as far as they are known: those of its tools. */
export type CallsOf<Tools extends ToolEntries, Agents extends AgentEntries> = {
  readonly [T in ToolsIn<Tools> as T['name']]: T extends Tool<never, string, infer Input, infer Data>
    ? CallTypes<Input, Data>
    : never
} & (Agents extends readonly [] ? unknown : OtherCalls) &
  (Extract<EntryOf<Tools>, ToolSource> extends never ? unknown : OtherCalls)

/** Events that belong to one call. */
type ToolEventType = 'tool.start' | 'tool.end' | 'tool.progress'

/** Tools that braking adds. */
type BrakeName = AskingTool | typeof recallName

type Named<Event, Name, Input> = Event extends { readonly name: string; readonly input: unknown }
  ? Omit<Event, 'name' | 'input'> & { readonly name: Name; readonly input: Input }
  : Omit<Event, 'name'> & { readonly name: Name }

type WithData<Event, Data> = Omit<Event, 'data'> & { readonly data?: Data }

type ToolEventsOf<Calls> = {
  readonly [Name in keyof Calls & string]: Calls[Name] extends CallTypes<infer Input, infer Data>
    ? | Named<EventOf<'tool.start'>, Name, Input>
      | WithData<Named<EventOf<'tool.end'>, Name, Input>, Data>
      | Named<EventOf<'tool.progress'>, Name, Input>
    : never
}[keyof Calls & string]

/** Any event of an agent, with the arguments of each call. It has a name so that declaration files can use it. */
export type EventWith<Calls> =
  | Exclude<AgentEvent, { type: ToolEventType }>
  | ToolEventsOf<Calls & { readonly [Name in BrakeName]: CallTypes<unknown, unknown> }>

/** Events that listeners of an agent with these calls hear: any event, unless the names of all its calls are known. */
export type EventsOf<Calls> = [keyof Calls] extends [never]
  ? AgentEvent
  : [keyof Calls] extends [string]
    ? string extends keyof Calls
      ? AgentEvent
      : EventWith<Calls>
    : AgentEvent

/**
 * Events of the calls of a definition's tools, told apart by `type` and `name`: `tool.start` has the arguments, as the tool's schema takes
 * them (a model may send others: then the call ends with an error, and the tool is not run), `tool.end` the data, as JSON of what its `output` schema
 * gives.
 *
 * @example
 * ```ts
 * import type { ToolEventOf } from 'escapement'
 *
 * function show(event: ToolEventOf<typeof coder>) {
 *   if (event.type === 'tool.start' && event.name === 'read_file') console.log(event.input.path)
 * }
 * ```
 */
export type ToolEventOf<D extends AgentDefinition> =
  D extends AgentDefinition<unknown, never, infer Calls> ? ToolEventsOf<Calls> : never
