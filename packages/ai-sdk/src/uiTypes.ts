import type { RunStopReason } from '../../../src/protocol/records.ts'
import type { Usage } from '../../../src/protocol/messages.ts'

/** Metadata of an agent's message, over all runs that it took. */
export interface UiMetadata {
  /** Stop reason of its last run. */
  stopReason: RunStopReason
  usage: Usage
  costUsd: number
}

interface UiCall {
  type: 'dynamic-tool'
  toolName: string
  toolCallId: string
  /** True if the model's provider carried out the call. */
  providerExecuted?: boolean
}

/** A tool call in each of its states. */
export type UiToolPart =
  | (UiCall & { state: 'input-available'; input: unknown })
  | (UiCall & { state: 'approval-requested'; input: unknown; approval: { id: string } })
  | (UiCall & {
      state: 'approval-responded'
      input: unknown
      approval: { id: string; approved: boolean; reason?: string }
    })
  | (UiCall & {
      state: 'output-available'
      input: unknown
      output: unknown
      approval?: { id: string; approved: true; reason?: string }
    })
  | (UiCall & {
      state: 'output-error'
      input: unknown
      errorText: string
      approval?: { id: string; approved: true; reason?: string }
    })
  | (UiCall & { state: 'output-denied'; input: unknown; approval: { id: string; approved: false; reason?: string } })

export interface UiTextPart {
  type: 'text'
  text: string
  state?: 'streaming' | 'done'
}

export interface UiFilePart {
  type: 'file'
  mediaType: string
  filename?: string
  /** An HTTP address, or a data URL. */
  url: string
}

/** Parts that are identical to their chunks. */
export type UiPlainPart =
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'source-document'; sourceId: string; mediaType: string; title: string; filename?: string }
  | { type: 'file'; mediaType: string; url: string }
  | { type: 'reasoning-file'; mediaType: string; url: string }
  | { type: 'custom'; kind: `${string}.${string}` }
  | { type: 'steering-message'; id: string; parts: (UiTextPart | UiFilePart)[] }
  | { type: `data-${string}`; id: string; data: unknown }

/** A part of a message, as `UIMessage` of the AI SDK has it. */
export type UiMessagePart =
  | UiTextPart
  | { type: 'reasoning'; id: string; text: string; state?: 'streaming' | 'done' }
  | UiToolPart
  | UiFilePart
  | UiPlainPart
  | { type: 'step-start' }

/** A message as `useChat` shows it: a `UIMessage` of the AI SDK, declared here so that no package is needed. */
export interface UiMessage {
  /** Id of the message. A person's message has the id of the request that sent it. */
  id: string
  role: 'user' | 'assistant'
  metadata?: UiMetadata
  parts: UiMessagePart[]
}

/** Why a stream ends: `tool-calls` when people are to decide something, `interrupted` when the run was aborted or is paused. */
export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted'

/** A piece of a message, as `UIMessageChunk` of the AI SDK has it. */
export type UiMessageChunk =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic: true }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | {
      type: 'tool-input-available'
      toolCallId: string
      toolName: string
      input: unknown
      dynamic: true
      providerExecuted?: boolean
    }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | {
      type: 'tool-output-available'
      toolCallId: string
      output: unknown
      preliminary?: true
      providerExecuted?: boolean
    }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; providerExecuted?: boolean }
  | { type: 'tool-output-denied'; toolCallId: string }
  | UiPlainPart
  | { type: `data-${string}`; id: string; data: unknown; transient: true }
  | { type: 'message-metadata'; messageMetadata: UiMetadata }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason?: string }
  | { type: 'finish'; finishReason: UiFinishReason; messageMetadata?: UiMetadata }
