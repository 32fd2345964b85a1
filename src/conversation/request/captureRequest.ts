import type { ModelRequest } from '../../protocol/ports/model.ts'
import type { Provenance } from '../../protocol/provenance.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'

export interface TurnRequest {
  readonly model: string
  readonly request: ModelRequest
  /** Origins of the request's messages, one entry for each. */
  readonly provenance: readonly Provenance[]
}

export interface CapturedRequest extends TurnRequest {
  /** Sequence number of the record that captured the request. */
  readonly seq: number
  readonly runId: string
  readonly turnIndex: number
  /** The first attempt that sent the request. */
  readonly attempt: number
  /** Number of leading messages that were already in the previous request. */
  readonly kept: number
}

/** Part of a request that a capture stores. */
export type RequestDifference = Pick<
  RecordOf<'turn.captured'>,
  'model' | 'system' | 'tools' | 'settings' | 'kept' | 'messages' | 'provenance'
>

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** Returns the difference between a request and the previous one, so that nothing is stored twice. Pure. */
export function captureRequest(
  before: TurnRequest | undefined,
  { model, request, provenance }: TurnRequest,
): RequestDifference {
  const { system, tools, settings, messages } = request
  const old = before?.request
  let kept = 0
  while (
    kept < messages.length &&
    kept < (old?.messages.length ?? 0) &&
    isSame(old!.messages[kept], messages[kept]) &&
    isSame(before!.provenance[kept], provenance[kept])
  )
    kept += 1
  return {
    model,
    ...(old?.system === system ? {} : { system }),
    ...(old !== undefined && isSame(old.tools, tools) ? {} : { tools }),
    ...(old !== undefined && isSame(old.settings, settings)
      ? {}
      : { settings: settings as { [name: string]: unknown } }),
    kept,
    messages: messages.slice(kept),
    provenance: provenance.slice(kept),
  }
}

/**
 * Returns the requests captured in a log, oldest first; serialised, they are byte for byte as sent. For a fork, pass the shared past first. Requests
 * that were not captured are absent. Pure.
 */
export function* capturedRequests(records: Iterable<LogRecord>): Generator<CapturedRequest, void, undefined> {
  let before: TurnRequest | undefined
  for (const record of records) {
    if (record.type !== 'turn.captured') continue
    const { seq, runId, turnIndex, attempt, model, kept } = record
    const request: ModelRequest = {
      system: record.system ?? before?.request.system ?? '',
      tools: record.tools ?? before?.request.tools ?? [],
      settings: record.settings ?? before?.request.settings ?? {},
      messages: [...(before?.request.messages.slice(0, kept) ?? []), ...record.messages],
    }
    const provenance = [...(before?.provenance.slice(0, kept) ?? []), ...record.provenance]
    before = { model, request, provenance }
    yield { seq, runId, turnIndex, attempt, kept, ...before }
  }
}
