import type { CapturedRequest } from '../../../../src/conversation/request/captureRequest.ts'
import { requestChange, type RequestChange } from '../../../sessions/src/requestChange.ts'
import { providedText, type Block } from '../../../../src/protocol/messages.ts'
import type { RequestMessage } from '../../../../src/protocol/ports/model.ts'
import type { Provenance, ProvenanceKind } from '../../../../src/protocol/provenance.ts'
import { counted, whole } from '../../../charts/src/amounts.ts'
import type { Colours } from './colours.ts'
import { indented, oneLine } from '../../../charts/src/plainText.ts'

/** Returns the lines of a full request, with the origin of each message and a mark at messages new since the previous request. */
export function requestLines(now: CapturedRequest, before: CapturedRequest | undefined, colours: Colours): string[] {
  const { request, provenance, turnIndex, attempt, model } = now
  const { system, tools, settings, messages } = request
  const change = before === undefined ? undefined : requestChange(before, now)
  const mark = (isChanged: boolean | undefined): string => (isChanged === true ? ` ${colours.yellow('(changed)')}` : '')
  const toolsChanged = change !== undefined && Object.values(change.tools).some((names) => names.length > 0)
  return [
    `${colours.bold(`Request of turn ${turnIndex + 1}`)}${attempt === 1 ? '' : `, attempt ${attempt}`} · ${oneLine(model)} · ${counted(messages.length, 'message')}`,
    before === undefined
      ? 'This is the first captured request.'
      : `Since turn ${before.turnIndex + 1}: ${changeText(change!)}.`,
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
    ...(tools.removed.length === 0 ? [] : [`tools removed: ${tools.removed.join(', ')}`]),
    ...(tools.changed.length === 0 ? [] : [`tools changed: ${tools.changed.join(', ')}`]),
    ...(settings ? ['the settings'] : []),
  ].map(oneLine)
  const counts = [
    `${counted(kept, 'message')} kept`,
    ...(gone === 0 ? [] : [`${whole(gone)} removed`]),
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
      return 'url' in block
        ? [`    [image ${oneLine(block.url)}]`]
        : [`    [image ${oneLine(block.mimeType)}, ${whole(block.data.length)} characters of base64]`]
    case 'file': {
      const { name, mimeType, data } = block
      const what = oneLine(name === undefined ? mimeType : `${name}, ${mimeType}`)
      return [`    [file ${what}, ${whole(data.length)} characters of base64]`]
    }
    case 'thinking':
      return [`    [thinking${block.signature === undefined ? '' : ', signed'}]`, ...indented(block.text, '    ')]
    case 'provider':
      return [`    [${oneLine(providedText(block))}]`]
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
  loopTurn: ({ turnIndex, role, messageIndex, calls = 0 }) =>
    `turn ${turnIndex + 1}, ${role}${calls === 0 ? '' : ` with ${counted(calls, 'call')}`}, message ${messageIndex}`,
  steering: () => 'steering',
  followUp: () => 'follow-up',
  note: ({ kind }) => `note: ${kind}`,
  summary: () => 'summary',
  imported: () => 'history of another system',
  report: ({ agentId, name }) => `report of ${name} (${agentId})`,
  schedule: ({ id }) => `schedule ${id}`,
  unknown: () => 'unknown',
}

/** Describes where a message came from. */
export function provenanceText(provenance: Provenance): string {
  const one = (kind: ProvenanceKind): string => (describers[kind.type] as (kind: ProvenanceKind) => string)(kind)
  return oneLine([provenance, ...(provenance.merged ?? [])].map(one).join(' + '))
}
