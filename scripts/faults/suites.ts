import type { Fault } from '../mutate.ts'

const saved = ['suites/savedTasks']
const imported = ['suites/importers']

/** Slips in suites: tasks of sessions, importers, images of tasks. */
export const faults: readonly Fault[] = [
  {
    id: 'suites-1',
    file: 'src/cli/savedTask/workspaceFiles.ts',
    what: 'a file of secrets goes with a task',
    from: 'else if (secretFile.test(entry.name) && !exampleFile.test(entry.name)) secret!.push(path)',
    to: 'else if (false as boolean) secret!.push(path)',
    tests: saved,
  },
  {
    id: 'suites-2',
    file: 'src/cli/savedTask/workspaceFiles.ts',
    what: 'a key in a file goes with a task',
    from: 'const clean = withoutKeys(read)',
    to: 'const clean = read',
    tests: saved,
  },
  {
    id: 'suites-3',
    file: 'src/cli/savedTask/filesBefore.ts',
    what: 'changes are taken back from the oldest on',
    from: 'changes.entries()].toReversed()',
    to: 'changes.entries()]',
    tests: saved,
  },
  {
    id: 'suites-4',
    file: 'src/cli/savedTask/writeTask.ts',
    what: 'a task that could not be written leaves a part of itself',
    from: 'await mkdir(dir).catch(',
    to: 'await mkdir(dir, { recursive: true }).catch(',
    tests: saved,
  },
  {
    id: 'suites-5',
    file: 'src/evaluation/importers/interCode.ts',
    what: 'a puzzle brings its solution',
    from: '(?:solution\\/|',
    to: '(?:',
    tests: imported,
  },
  {
    id: 'suites-6',
    file: 'src/evaluation/importers/sweBench.ts',
    what: 'a test that did not run counts as passed',
    from: 'status.get(name, False)',
    to: 'status.get(name, True)',
    tests: imported,
  },
  {
    id: 'suites-7',
    file: 'src/evaluation/importers/sweBench.ts',
    what: 'whatever stands for a commit is put into a script',
    from: ".regex(/^[0-9a-f]{7,40}$/, 'is not a commit')",
    to: '',
    tests: imported,
  },
  {
    id: 'suites-8',
    file: 'src/evaluation/trials/runTrial.ts',
    what: 'a folder is set up where it hides what the image has',
    from: 'return unmounted',
    to: 'return image',
    tests: ['suites/taskImages'],
  },
  {
    id: 'suites-9',
    file: 'src/evaluation/trials/runTrial.ts',
    what: 'people of a suite are not asked',
    from: "decide?.({ ...place, name, input }) ?? 'approve'",
    to: "'approve'",
    tests: ['suites/suiteArms'],
  },
]
