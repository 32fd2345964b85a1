import { formatNodeId, type NodeId } from '../../../protocol/ids.ts'
import type { Tag } from '../../../protocol/braking.ts'
import { saidByTool, textOf, type ToolResultMessage } from '../../../protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../protocol/records.ts'
import { oneLine } from '../../../protocol/text/cutMiddle.ts'
import { lastLine } from '../evidence.ts'
import { brakeMarkers } from '../../request/markers.ts'
import { neutralise } from '../../request/renderMessage.ts'
import { waits } from '../stall/waiting.ts'
import { callsRun, type ConversationNode } from '../../tree/node.ts'
import type { SharedLessons } from './sharedLessons.ts'
import { TextHash } from '../../../protocol/text/textHash.ts'

/** The part of a conversation that lessons are taken from. */
export interface LessonSource {
  readonly annotations: { readonly tagged: readonly { readonly tag: Tag }[] } | undefined
  node(id: NodeId): ConversationNode | undefined
}

/** A call in the form of the log. */
interface Call {
  readonly name: string
  readonly input: unknown
}

/** Returns a fingerprint that is equal for the same calls: the same tool and arguments, whatever the order of their fields. */
export const callPrint = ({ name, input }: Call): string => new TextHash().add(name).addJson(input).value

/** Maximum number of characters of a lesson in a result. */
const longestLesson = 300

const shown = (line: string): string => neutralise(line, brakeMarkers)

/** Lessons of the calls that reverts of one conversation abandoned, by call. The index grows with the log and depends on it alone. */
class LessonIndex {
  readonly #source: LessonSource
  readonly #lines = new Map<string, string>()
  /** Number of tags that have been taken in. */
  #taken = 0

  constructor(source: LessonSource) {
    this.#source = source
  }

  find(print: string): string | undefined {
    const tagged = this.#source.annotations?.tagged ?? []
    for (; this.#taken < tagged.length; this.#taken += 1) this.#add(tagged[this.#taken]!.tag)
    return this.#lines.get(print)
  }

  #add(tag: Tag): void {
    for (const { print, text } of givenUp(tag, this.#source))
      this.#lines.set(print, shown(`tried before at ${spanOf(tag.abandoned)} (abandoned): ${text}`))
  }
}

const spanOf = (ids: readonly NodeId[]): string =>
  [...new Set([ids[0]!, ids.at(-1)!])].map((id) => formatNodeId(id)).join('–')

/** A call that a revert abandoned. */
export interface GivenUpCall extends Call {
  /** The node that made it. */
  readonly nodeId: NodeId
  readonly print: string
  readonly end: ToolResultMessage
}

/** Yields the calls that a revert abandoned as a failure or a tangent, without condensed calls, calls that never ran and calls that wait. */
export function callsGivenUp({ kind, abandoned }: Tag, source: LessonSource): GivenUpCall[] {
  if (kind !== 'lesson' && kind !== 'finding') return []
  const nodes = abandoned.flatMap((id) => source.node(id) ?? [])
  const edited = nodes.filter(({ ranWith }) => ranWith !== undefined)
  const ends = new Map<string, ToolResultMessage>()
  for (const { message } of nodes)
    if (message.role === 'toolResult' && message.synthetic === undefined) ends.set(message.callId, message)
  return nodes.flatMap((node) =>
    callsRun(node, edited).flatMap(({ callId, name, input }) => {
      const end = ends.get(callId)
      return end === undefined || waits({ name, input })
        ? []
        : [{ nodeId: node.id, name, input, print: callPrint({ name, input }), end }]
    }),
  )
}

function givenUp(tag: Tag, source: LessonSource): { print: string; text: string }[] {
  const last = tag.evidence.calls.findLast(({ lastError }) => lastError !== undefined)?.lastError
  return callsGivenUp(tag, source).map(({ print, end }) => ({
    print,
    text: oneLine(tag.text, longestLesson) || (end.isError && errorOf(end)) || last || 'given up',
  }))
}

const errorOf = (message: ToolResultMessage): string => oneLine(lastLine(textOf(saidByTool(message))), longestLesson)

const indexes = new WeakMap<LessonSource, LessonIndex>()

/** Returns the outcome of the same call on an abandoned branch, in one line; `undefined` if none is known. */
export function lessonOf(source: LessonSource, call: Call): string | undefined {
  let index = indexes.get(source)
  if (index === undefined) indexes.set(source, (index = new LessonIndex(source)))
  return index.find(callPrint(call))
}

/** An agent's membership in a group. It shares its failed and abandoned calls, and learns those of the others. */
export class GroupMember {
  readonly #shared: SharedLessons
  /** Name by which the other agents of the group know this one. */
  readonly #name: string
  readonly #source: LessonSource
  /** Returns true for tools whose calls yield no lessons. */
  readonly #ignores: (tool: string) => boolean
  /** Fingerprints of calls that run, by id. */
  readonly #running = new Map<string, string>()

  constructor(
    shared: SharedLessons,
    { name, source, ignores }: { readonly name: string; readonly source: LessonSource; ignores(tool: string): boolean },
  ) {
    this.#shared = shared
    this.#name = shared.join(name)
    this.#source = source
    this.#ignores = ignores
  }

  /** Takes in a record once it is part of the conversation. */
  note(record: LogRecord): void {
    if (record.type === 'tool.start') {
      if (!this.#ignores(record.name) && !waits(record)) this.#running.set(record.callId, callPrint(record))
    } else if (record.type === 'tool.end') this.#ended(record)
    else if (record.type === 'revert.applied' && record.tag !== undefined)
      for (const { print, text } of givenUp(record.tag, this.#source))
        this.#shared.add(this.#name, print, { how: 'abandoned', text })
  }

  #ended({ callId, message }: RecordOf<'tool.end'>): void {
    const print = this.#running.get(callId)
    this.#running.delete(callId)
    if (print === undefined || !message.isError || message.synthetic !== undefined) return
    this.#shared.add(this.#name, print, { how: 'failed', text: errorOf(message) || 'no reason was given' })
  }

  /** Returns the outcome of the same call of another agent of the group, in one line; `undefined` if none is known. */
  find(call: Call): string | undefined {
    const found = this.#shared.find(this.#name, callPrint(call))
    return found === undefined ? undefined : shown(`tried by ${found.by} (${found.how}): ${found.text}`)
  }
}
