import { RequestError, type ContentBlock, type PromptResponse, type StopReason } from '@agentclientprotocol/sdk'
import { errorInfo } from '../../../src/protocol/errors.ts'
import type { PlainBlock } from '../../../src/protocol/messages.ts'
import type { PauseReason } from '../../../src/protocol/records.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import { outwardError } from '../../bridge/src/server/outwardError.ts'
import { withoutEnd } from '../../../src/protocol/text/textEnds.ts'

type BlockOf<T extends ContentBlock['type']> = Extract<ContentBlock, { type: T }>

const readers: { readonly [T in ContentBlock['type']]: (block: BlockOf<T>) => PlainBlock } = {
  text: ({ text }) => ({ type: 'text', text }),
  image: ({ data, mimeType }) => ({ type: 'image', data, mimeType }),
  audio: ({ data, mimeType }) => ({ type: 'file', data, mimeType }),
  resource_link: ({ name, uri, title, description }) => ({
    type: 'text',
    text: `[${oneLine(title ?? name)}](${uri})${description == null ? '' : `: ${description}`}`,
  }),
  resource: ({ resource }) => {
    if ('text' in resource)
      return { type: 'text', text: `<resource uri="${resource.uri}">\n${resource.text}\n</resource>` }
    const mimeType = resource.mimeType ?? 'application/octet-stream'
    if (mimeType.startsWith('image/')) return { type: 'image', data: resource.blob, mimeType }
    return { type: 'file', data: resource.blob, mimeType, ...nameIn(resource.uri) }
  },
}

/** Returns the last segment of an address, as the name of the resource. */
function nameIn(uri: string): { name?: string } {
  const [path = ''] = uri.split(/[?#]/, 1)
  const name = withoutEnd(path, '/').split(/[/:]/).at(-1) ?? ''
  try {
    return name === '' ? {} : { name: decodeURIComponent(name) }
  } catch {
    return { name }
  }
}

const oneLine = (text: string): string => text.replace(/[\s[\]]+/g, ' ').trim()

/**
 * Converts a prompt's content for an agent: a link becomes a Markdown link, an embedded text is given with its address,
 * other resources and sound are files.
 */
export const promptContent = (blocks: readonly ContentBlock[]): PlainBlock[] =>
  blocks.map((block) => (readers[block.type] as (block: ContentBlock) => PlainBlock)(block))

type LimitName = Extract<PauseReason, { type: 'limit' }>['limit']

/** Stop reasons for limits and stalls. ACP has none for cost, time or stalls, so these only stop further requests. */
const pauseReasons: { readonly [L in LimitName | 'stall']: StopReason } = {
  turns: 'max_turn_requests',
  tokens: 'max_tokens',
  costUsd: 'max_turn_requests',
  ms: 'max_turn_requests',
  stall: 'max_turn_requests',
}

const endReasons = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', aborted: 'cancelled' } as const

/**
 * Answer of a prompt by the result of its run; `_meta.escapement` has turns, usage, cost and the reason of a pause.
 *
 * @throws RequestError for a run that failed, or that a failing store stopped, with its code in `data`
 */
export function promptAnswer(result: RunResult): PromptResponse {
  const { stopReason, runId, turns, usage, costUsd, reason } = result
  const refusal = result.stopReason === 'refusal' ? result.refusal : undefined
  const error = result.error ?? (reason?.type === 'store' ? reason.error : undefined)
  const pause = reason?.type === 'limit' ? reason.limit : reason?.type === 'stall' ? reason.type : undefined
  if (stopReason === 'error' || (stopReason === 'paused' && pause === undefined)) {
    const { code, message } = outwardError(error ?? errorInfo('INTERNAL', `The run ended with "${stopReason}".`))
    throw new RequestError(-32603, message, { code })
  }
  return {
    stopReason: stopReason === 'paused' ? pauseReasons[pause!] : endReasons[stopReason],
    _meta: {
      escapement: {
        runId,
        turns,
        usage,
        costUsd,
        ...(reason === undefined ? {} : { reason }),
        ...(refusal === undefined ? {} : { refusal }),
      },
    },
  }
}
