import { fileStore, type LogRecord, memoryStore } from '../../../../src/index.ts'
import { importSession, loadSession, capturedRequests, listSessions } from '../../../../src/sessions.ts'
import { parseRecord } from '../../../../src/stores.ts'
import { type RecordedSession, ReplayError } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { isObject } from './shapes.ts'

/** A log of our own: its first record is `agent.created`. */
export const isLog = ([first]: readonly unknown[]): boolean =>
  isObject(first) && first['type'] === 'agent.created' && 'seq' in first

/** A file made by `exportSession`. */
export const isExport = ([first]: readonly unknown[]): boolean =>
  isObject(first) && first['format'] === 'escapement.session'

/** Tools that only brakes have: without brakes, these calls would not have been made. */
const brakeTools = new Set(['revert_to_state', 'prun', 'recall'])

/** Everything that was said, in order, as if nothing had been reverted, pruned or compacted. */
export function readRecords(records: Iterable<LogRecord>, name: string): RecordedSession {
  const draft = new SessionDraft('escapement log')
  const ofBrakes = new Set<string>()
  const list = [...records]
  const [captured] = capturedRequests(list)
  if (captured !== undefined) {
    draft.system(captured.request.system)
    for (const spec of captured.request.tools) if (!brakeTools.has(spec.name)) draft.tool(spec)
  }
  for (const record of list) {
    if (record.type === 'message.added') draft.user(record.message.content)
    else if (record.type === 'tool.end') {
      const { callId, content, isError } = record.message
      if (!ofBrakes.has(callId)) draft.result(callId, content, isError)
    } else if (record.type === 'reply.end') {
      const { content, stopReason, usage } = record.message
      const said = stopReason === 'aborted' ? content.filter(({ type }) => type === 'text') : content
      const kept = said.filter((block) => {
        if (block.type !== 'toolCall' || !brakeTools.has(block.name)) return true
        ofBrakes.add(block.callId)
        draft.note('calls of the brakes were left out')
        return false
      })
      const measured = usage.estimated === true ? 0 : usage.input + usage.cacheRead + usage.cacheWrite
      draft.reply(kept, measured)
    }
  }
  return draft.finish(name)
}

export const readLog = (lines: readonly unknown[], name: string): RecordedSession =>
  readRecords(
    lines.map((line) => parseRecord(line)),
    name,
  )

export async function readExported(text: string, name: string): Promise<RecordedSession> {
  const store = memoryStore()
  const { agentIds } = await importSession(store, [text])
  const { past, records } = await loadSession(store, agentIds.at(-1)!)
  return readRecords([...past, ...records], name)
}

/** A folder of a `fileStore`: its only session, or the one of this id. */
export async function readFolder(folder: string, agentId: string | undefined): Promise<RecordedSession> {
  const store = fileStore(folder)
  try {
    const ids = (await listSessions(store)).map(({ id }) => id).toSorted()
    const id = agentId ?? (ids.length === 1 ? ids[0] : undefined)
    if (id === undefined || !ids.includes(id)) {
      const what = ids.length === 0 ? 'no session' : `the sessions ${ids.slice(0, 20).join(', ')}`
      throw new ReplayError(`The folder ${folder} has ${what}: name one as ${folder}#<id>.`)
    }
    const { past, records } = await loadSession(store, id)
    return readRecords([...past, ...records], id)
  } finally {
    await store.close()
  }
}
