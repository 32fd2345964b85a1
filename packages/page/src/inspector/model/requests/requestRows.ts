import { requestChange, type RequestChange } from '../../../../../sessions/src/requestChange.ts'
import type { ModelRequest } from '../../../../../../src/protocol/ports/model.ts'
import type { Provenance } from '../../../../../../src/protocol/provenance.ts'
import type { RequestView } from '../agent/agentView.ts'
import { requestMarks, type MessageMark, type RequestMarks } from './requestMarks.ts'

/** A request, and the one before it if there is one. */
export interface ComparedRequest {
  readonly request: ModelRequest
  readonly provenance: readonly Provenance[]
  readonly old?: {
    readonly request: ModelRequest
    readonly change: RequestChange
    readonly marks: RequestMarks
  }
}

/** A line of a request as it is shown. */
export type RequestRow =
  | { readonly type: FramePart; readonly isChanged: boolean }
  /** Messages that are the same as before, from `from` to before `to`. */
  | { readonly type: 'same'; readonly mark: 'kept' | 'moved'; readonly from: number; readonly to: number }
  | { readonly type: 'message'; readonly at: number; readonly mark?: MessageMark }
  /** Number of earlier messages that are not sent any more. */
  | { readonly type: 'gone'; readonly count: number }
  /** A message that is no longer sent, by its index in the request before. */
  | { readonly type: 'lost'; readonly at: number }

export type FramePart = 'system' | 'tools' | 'settings'

/** Compares two requests, once for all that is shown of them. Costs their length. */
export function compareRequests(now: RequestView, before: RequestView | undefined): ComparedRequest {
  const { request, provenance, kept } = now
  if (before === undefined) return { request, provenance }
  const old = before.request
  const change = requestChange({ request: old }, { request, kept })
  return {
    request,
    provenance,
    old: { request: old, change, marks: requestMarks(old.messages, request.messages, kept) },
  }
}

export interface RowChoice {
  /** True if unchanged messages are shown one by one. */
  readonly showsSame: boolean
  /** True if messages that are not sent any more are shown one by one. */
  readonly showsGone: boolean
}

/** Returns the rows of a request, from top to bottom. Messages that are not sent any more stand where the two requests part. Pure. */
export function requestRows({ request, old }: ComparedRequest, { showsSame, showsGone }: RowChoice): RequestRow[] {
  const { system = false, settings = false, tools } = old?.change ?? {}
  const hasTools = tools !== undefined && tools.added.length + tools.removed.length + tools.changed.length > 0
  const rows: RequestRow[] = [
    { type: 'system', isChanged: system },
    { type: 'tools', isChanged: hasTools },
    { type: 'settings', isChanged: settings },
  ]
  if (old === undefined) return [...rows, ...request.messages.map((_, at): RequestRow => ({ type: 'message', at }))]
  const { marks, gone } = old.marks
  const goneRows: RequestRow[] =
    gone.length === 0
      ? []
      : [
          { type: 'gone', count: gone.length },
          ...(showsGone ? gone.map((at): RequestRow => ({ type: 'lost', at })) : []),
        ]
  for (let at = 0; at < marks.length;) {
    const mark = marks[at]!
    let to = at + 1
    while (to < marks.length && marks[to] === mark) to += 1
    if (at === old.change.kept) rows.push(...goneRows)
    if (mark !== 'new') rows.push({ type: 'same', mark, from: at, to })
    if (mark === 'new' || showsSame)
      for (let each = at; each < to; each += 1) rows.push({ type: 'message', at: each, mark })
    at = to
  }
  if (old.change.kept >= marks.length) rows.push(...goneRows)
  return rows
}

/** Returns the indexes of the rows at which changes since the request before begin. Pure. */
export function changedRows(rows: readonly RequestRow[]): number[] {
  const isChange = (row: RequestRow | undefined): boolean =>
    row !== undefined &&
    (('isChanged' in row && row.isChanged) || row.type === 'gone' || ('mark' in row && row.mark === 'new'))
  return rows.flatMap((row, index) => {
    const before = rows[index - 1]
    const goesOn = row.type === 'message' && before?.type === 'message' && before.mark === 'new'
    return isChange(row) && !goesOn ? [index] : []
  })
}
