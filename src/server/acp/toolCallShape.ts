import { isAbsolute } from 'node:path'
import type { ContentBlock, SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk'
import { cutEnd } from '../../conversation/cutMiddle.ts'
import type { PlainBlock, ToolResultMessage } from '../../protocol/messages.ts'
import { textOf } from '../../protocol/messages.ts'

/** Longest title of a call, in UTF-16 units. */
const maxTitle = 100

/** Kinds of the built-in tools; clients choose icons by them. */
const kinds: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_files: 'search',
  search_files: 'search',
  write_file: 'edit',
  edit_file: 'edit',
  run_command: 'execute',
  revert_to_state: 'think',
  prun: 'think',
}

/** A call as known before it has run. */
export interface KnownCall {
  readonly toolCallId: string
  readonly name: string
  readonly input: unknown
  /** The sub-agent that made it. */
  readonly agentId?: string
}

/** A short title of a call: its tool and the first text of its input, such as `read_file src/a.ts`. */
export function titleOf({ name, input, agentId }: Omit<KnownCall, 'toolCallId'>): string {
  const values: unknown[] = typeof input === 'object' && input !== null ? Object.values(input) : [input]
  const first = values.find((value) => typeof value === 'string')
  const parts = [agentId === undefined ? undefined : `${agentId}:`, name, first].filter((part) => part !== undefined)
  return cutEnd(parts.join(' ').replace(/\s+/g, ' ').trim(), maxTitle)
}

/** A call as updates and permission requests carry it. */
export const callShape = (call: KnownCall) => ({
  toolCallId: call.toolCallId,
  title: titleOf(call),
  name: call.name,
  kind: kinds[call.name] ?? 'other',
  rawInput: call.input,
})

/** A call that waits. */
export const callUpdate = (call: KnownCall): SessionUpdate => ({
  sessionUpdate: 'tool_call',
  ...callShape(call),
  status: 'pending',
})

/** A block as ACP content, which holds no image that lies elsewhere: that becomes a link. */
export const contentBlock = (block: PlainBlock): ContentBlock =>
  'url' in block ? { type: 'resource_link', name: block.url, uri: block.url } : { ...block }

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })

/** The result of a call. Changed files are locations if their paths are absolute, as ACP requires. */
export function outcomeUpdate(toolCallId: string, message: ToolResultMessage): SessionUpdate {
  const { content, isError, changed = [], synthetic } = message
  const locations = changed.filter((path) => isAbsolute(path)).map((path) => ({ path }))
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: isError ? 'failed' : 'completed',
    content: content.map((block) => ({ type: 'content', content: contentBlock(block) })),
    rawOutput: textOf(content),
    ...(locations.length === 0 ? {} : { locations }),
    ...(synthetic === undefined ? {} : { _meta: { escapement: { synthetic } } }),
  }
}
