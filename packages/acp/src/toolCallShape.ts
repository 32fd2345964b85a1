import { isAbsolute } from 'node:path'
import type { ContentBlock, SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk'
import type { PlainBlock, ToolResultMessage } from '../../../src/protocol/messages.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { titleOf, type KnownCall } from '../../bridge/src/server/callTitle.ts'

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

/** Returns a call in the form that updates and permission requests carry. */
export const callShape = (call: KnownCall) => ({
  toolCallId: call.toolCallId,
  title: titleOf(call),
  name: call.name,
  kind: kinds[call.name] ?? 'other',
  rawInput: call.input,
})

/** Returns the update for a call that waits. */
export const callUpdate = (call: KnownCall): SessionUpdate => ({
  sessionUpdate: 'tool_call',
  ...callShape(call),
  status: 'pending',
})

/** Converts a block to ACP content. An image stored elsewhere becomes a link. A file other than sound is a resource. */
export function contentBlock(block: PlainBlock): ContentBlock {
  if ('url' in block) return { type: 'resource_link', name: block.url, uri: block.url }
  if (block.type !== 'file') return { ...block }
  const { data, mimeType, name = 'file' } = block
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  return { type: 'resource', resource: { blob: data, mimeType, uri: `attachment:${encodeURIComponent(name)}` } }
}

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })

/** Returns the update for a call's result. Changed files are locations if their paths are absolute, as ACP requires. */
export function outcomeUpdate(
  toolCallId: string,
  message: Pick<ToolResultMessage, 'content' | 'isError' | 'changed' | 'synthetic'>,
  data?: unknown,
): SessionUpdate {
  const { content, isError, changed = [], synthetic } = message
  const locations = changed.filter((path) => isAbsolute(path)).map((path) => ({ path }))
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: isError ? 'failed' : 'completed',
    content: content.map((block) => ({ type: 'content', content: contentBlock(block) })),
    rawOutput: data === undefined ? textOf(content) : data,
    ...(locations.length === 0 ? {} : { locations }),
    ...(synthetic === undefined ? {} : { _meta: { escapement: { synthetic } } }),
  }
}
