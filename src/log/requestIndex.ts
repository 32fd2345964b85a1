import { type Fold, KnownIds, type KeptIds } from './fold.ts'
import { isOfPart } from '../protocol/parts/partRecords.ts'
import type { LogRecord } from '../protocol/records.ts'

type Beginning = { readonly requestId: string; readonly unsaid: number } | undefined

/** Ids of all requests in an agent's log, however old, so that a repeated request is recognised. */
export interface RequestIndex {
  readonly ids: KnownIds
  /** Run that has begun but whose first messages are not all recorded, so its request does not count yet. */
  beginning: Beginning
}

/** Stored form of the index. */
interface KeptRequests {
  readonly ids: KeptIds
  readonly beginning?: Beginning
}

/** Fold over an agent's own log. Changes the index in place. */
export const requestsFold: Fold<RequestIndex, KeptRequests> = {
  name: 'requests',
  isOwn: true,
  initial: () => ({ ids: new KnownIds(), beginning: undefined }),
  keep: ({ ids, beginning }) => ({ ids: ids.keep(), beginning }),
  resume: ({ ids, beginning }) => ({ ids: new KnownIds(ids), beginning }),
  each: noteRequest,
}

/** Adds the request ids of the next record to the index. */
export function noteRequest(index: RequestIndex, record: LogRecord): void {
  // What was asked elsewhere was not asked here.
  if (record.foreign === true) return
  index.beginning = begunAfter(index.beginning, record)
  if (index.beginning !== undefined && index.beginning.unsaid <= 0) {
    index.ids.add(index.beginning.requestId)
    index.beginning = undefined
  }
  const id = idIn(record)
  if (id !== undefined) index.ids.add(id)
}

function begunAfter(beginning: Beginning, record: LogRecord): Beginning {
  switch (record.type) {
    case 'run.start':
      return { requestId: record.requestId, unsaid: record.cause === 'resume' ? 0 : (record.messages ?? 1) }
    case 'message.added':
      return beginning && { ...beginning, unsaid: beginning.unsaid - 1 }
    case 'run.end':
      return undefined
    default:
      return beginning
  }
}

/** Returns the id of the request in a record, unless the record begins a run. */
function idIn(record: LogRecord): string | undefined {
  switch (record.type) {
    case 'run.start':
      return undefined
    case 'queue.changed':
      return record.added?.id
    case 'use.changed':
    case 'approval.decided':
    case 'question.answered':
    case 'run.end':
      return record.requestId
    case 'tool.end':
      return record.returned?.requestId
    default:
      if ('request' in record) return record.request.id
      return 'requestId' in record && isOfPart(record) ? record.requestId : undefined
  }
}
