// oxlint-disable-next-line import/no-unassigned-import -- The bundler takes the styles from it.
import '../inspector/styles/page.css'
import { signal } from '@preact/signals'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { InProcessServer } from '../../../bridge/src/inProcess/inProcessServer.ts'
import type { PageFile, PageIndex } from '../sessionPages/sessionFile.ts'
import { cutNotes } from './cutNotes.ts'
import { FileProblem } from './fileProblem.ts'
import { FileLogs } from './fileLogs.ts'
import { loadFile, readIndex } from './loadFiles.ts'
import { nothingRuns } from './nothingRuns.ts'
import { showInspector } from './showInspector.tsx'

/** The page for recorded sessions: everything it shows is in it, or in scripts beside it. */
function showSessions(place: HTMLElement): void {
  const { index, problem } = indexOrProblem()
  const troubles = signal<ReadonlyMap<PageFile, string>>(new Map())
  const logs = new FileLogs(index, {
    load: loadFile,
    onTrouble: (file, what) => (troubles.value = new Map([...troubles.value, [file, what]])),
  })
  const server = new InProcessServer(nothingRuns, { store: logs, clock: systemClock }, { role: 'observe' })
  for (const { logs: known } of index.files)
    for (const { id, size, writtenAt, summary } of known)
      if (summary !== undefined) server.bridge.sessions.know(id, { size, writtenAt }, summary)
  showInspector(place, server, {
    notes(inspector) {
      const { agent } = inspector.route.value
      const file = agent === null ? undefined : logs.fileOf(agent)
      const trouble = file && troubles.value.get(file)
      return [
        ...(problem === undefined ? [] : [problem]),
        ...(trouble === undefined ? [] : [trouble]),
        ...(file === undefined ? [] : cutNotes(file)),
      ]
    },
  })
}

/** Reads the index. If that fails, returns an empty one with the problem, which the page shows. */
function indexOrProblem(): { readonly index: PageIndex; readonly problem?: string } {
  try {
    return { index: readIndex() }
  } catch (thrown) {
    if (!(thrown instanceof FileProblem)) throw thrown
    return { index: { version: 1, files: [] }, problem: thrown.message }
  }
}

const found = document.getElementById('page')
if (found === null) throw new Error('The page has no place for the inspector.')
showSessions(found)
