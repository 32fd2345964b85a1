import type { CapturedRequest } from '../../../conversation/captureRequest.ts'
import type { Block } from '../../../protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../../protocol/model.ts'
import type { Provenance, ProvenanceKind } from '../../../protocol/provenance.ts'
import { counted, whole } from './amounts.ts'
import type { Colours } from './colours.ts'
import { indented, oneLine } from './textLines.ts'

/** What of a request differs from the one before. */
export interface RequestChange {
  /** So many messages at the beginning are the same, and so many of the one before are not sent any more. */
  readonly kept: number
  readonly gone: number
  readonly added: number
  readonly system: boolean
  readonly settings: boolean
  readonly tools: {
    readonly added: readonly string[]
    readonly removed: readonly string[]
    readonly changed: readonly string[]
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Compares a request with the one before. Pure. */
export function requestChange(before: CapturedRequest, now: CapturedRequest): RequestChange {
  const [old, next] = [before.request, now.request]
  const names = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name)
  const specOf = ({ tools }: ModelRequest, wanted: string): unknown => tools.find(({ name }) => name === wanted)
  return {
    kept: now.kept,
    gone: old.messages.length - now.kept,
    added: next.messages.length - now.kept,
    system: old.system !== next.system,
    settings: !isSame(old.settings, next.settings),
    tools: {
      added: names(next).filter((name) => !names(old).includes(name)),
      removed: names(old).filter((name) => !names(next).includes(name)),
      changed: names(next).filter(
        (name) => names(old).includes(name) && !isSame(specOf(old, name), specOf(next, name)),
      ),
    },
  }
}

/** A request word for word, with where each message came from, and what was not in the one before. */
export function requestLines(now: CapturedRequest, before: CapturedRequest | undefined, colours: Colours): string[] {
  const { request, provenance, turnIndex, attempt, model } = now
  const { system, tools, settings, messages } = request
  const change = before === undefined ? undefined : requestChange(before, now)
  const mark = (isChanged: boolean | undefined): string => (isChanged === true ? ` ${colours.yellow('(changed)')}` : '')
  const toolsChanged = change !== undefined && Object.values(change.tools).some((names) => names.length > 0)
  return [
    `${colours.bold(`Request of turn ${turnIndex}`)}${attempt === 1 ? '' : `, attempt ${attempt}`} · ${oneLine(model)} · ${counted(messages.length, 'message')}`,
    before === undefined
      ? 'It is the first that was captured.'
      : `Since turn ${before.turnIndex}: ${changeText(change!)}.`,
    '',
    `${colours.bold('System')}${mark(change?.system)}`,
    ...indented(system, '  '),
    '',
    `${colours.bold(`Tools (${tools.length})`)}${mark(toolsChanged)}`,
    ...tools.flatMap(({ name, description, inputSchema }) => [
      `  ${colours.bold(oneLine(name))}`,
      ...indented(description, '    '),
      ...indented(JSON.stringify(inputSchema), '    ').map((line) => colours.dim(line)),
    ]),
    '',
    `${colours.bold('Settings')}${mark(change?.settings)}`,
    ...indented(JSON.stringify(settings, undefined, 2), '  '),
    '',
    colours.bold(change === undefined ? 'Messages' : 'Messages (= kept, + new)'),
    ...messages.flatMap((message, i) => {
      const isNew = change === undefined || i >= change.kept
      const sign = change === undefined ? ' ' : isNew ? colours.green('+') : '='
      const from = colours.dim(`· ${provenanceText(provenance[i] ?? { type: 'unknown' })}`)
      return [`${sign} ${colours.bold(`${i} ${roleText(message)}`)} ${from}`, ...message.content.flatMap(blockLines)]
    }),
  ]
}

function changeText({ kept, gone, added, system, settings, tools }: RequestChange): string {
  const frame = [
    ...(system ? ['the system prompt'] : []),
    ...(tools.added.length === 0 ? [] : [`tools added: ${tools.added.join(', ')}`]),
    ...(tools.removed.length === 0 ? [] : [`tools gone: ${tools.removed.join(', ')}`]),
    ...(tools.changed.length === 0 ? [] : [`tools changed: ${tools.changed.join(', ')}`]),
    ...(settings ? ['the settings'] : []),
  ].map(oneLine)
  const counts = [
    `${counted(kept, 'message')} kept`,
    ...(gone === 0 ? [] : [`${whole(gone)} gone`]),
    `${whole(added)} new`,
  ]
  return `${counts.join(', ')}; ${frame.length === 0 ? 'system, tools and settings are the same' : `changed: ${frame.join('; ')}`}`
}

const roleText = (message: RequestMessage): string =>
  message.role === 'toolResult'
    ? `toolResult ${oneLine(`${message.toolName} (${message.callId})`)}${message.isError ? ', an error' : ''}`
    : message.role

function blockLines(block: Block): string[] {
  switch (block.type) {
    case 'text':
      return indented(block.text, '    ')
    case 'image':
      return [`    [image ${oneLine(block.mimeType)}, ${whole(block.data.length)} characters of base64]`]
    case 'thinking':
      return [`    [thinking${block.signature === undefined ? '' : ', signed'}]`, ...indented(block.text, '    ')]
    case 'toolCall':
      return [
        `    → ${oneLine(`${block.name} (${block.callId})`)}`,
        ...indented(JSON.stringify(block.input, undefined, 2) ?? '', '      '),
      ]
  }
}

type Describers = { readonly [T in ProvenanceKind['type']]: (kind: Extract<ProvenanceKind, { type: T }>) => string }

const describers: Describers = {
  systemPrompt: () => 'system prompt',
  identityBlock: ({ name, order }) => `identity block "${name}" (${order})`,
  memoryTier: ({ tier, recordId }) => `memory ${tier}, record ${recordId}`,
  loopTurn: ({ turnIndex, role, messageIndex }) => `turn ${turnIndex}, ${role}, message ${messageIndex}`,
  steering: () => 'steering',
  followUp: () => 'follow-up',
  note: ({ kind }) => `note: ${kind}`,
  summary: () => 'summary',
  unknown: () => 'unknown',
}

/** Where a message came from, in words. */
export function provenanceText(provenance: Provenance): string {
  const one = (kind: ProvenanceKind): string => (describers[kind.type] as (kind: ProvenanceKind) => string)(kind)
  return oneLine([provenance, ...(provenance.merged ?? [])].map(one).join(' + '))
}
