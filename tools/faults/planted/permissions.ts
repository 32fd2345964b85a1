import type { Fault } from '../mutate.ts'

const tables = ['actors/permissions']
const adding = ['journeys/addsRules']
const asking = ['journeys/asksRules']

export const faults: readonly Fault[] = [
  {
    id: 'permissions-1',
    file: 'src/actors/parts/permissions/commandWords.ts',
    what: 'an assignment before a command is understood',
    from: 'assignment.test(first) || runsOthers',
    to: 'runsOthers',
    tests: tables,
  },
  {
    id: 'permissions-2',
    file: 'src/actors/parts/permissions/commandWords.ts',
    what: 'a shell expands what stands in double quotes, and it is taken as it is',
    from: '"([^"$`\\\\!\\0]*)"',
    to: '"([^"\\0]*)"',
    tests: tables,
  },
  {
    id: 'permissions-3',
    file: 'src/actors/parts/permissions/decideCall.ts',
    what: 'one allowed command of a line allows the others',
    from: 'used.every((some) => some.length > 0)',
    to: 'used.some((some) => some.length > 0)',
    tests: tables,
  },
  {
    id: 'permissions-4',
    file: 'src/actors/parts/permissions/subjects.ts',
    what: 'a path outside is allowed by a pattern that takes every path',
    from: 'isInside && glob(path)',
    to: 'glob(path)',
    tests: tables,
  },
  {
    id: 'permissions-5',
    file: 'src/actors/parts/permissions/subjects.ts',
    what: 'a host on another port is the same host',
    from: 'fitsAddress(pattern.text, url, url.host)',
    to: 'fitsAddress(pattern.text, url, url.hostname)',
    tests: tables,
  },
  {
    id: 'permissions-6',
    file: 'src/actors/calls/askHook.ts',
    what: 'arguments that beforeTool gives are not judged',
    from: 'const allowed = await ruled(ports, edited, cancellation)',
    to: 'const allowed = await ruled(ports, input, cancellation)',
    tests: asking,
  },
  {
    id: 'permissions-7',
    file: 'src/runtime/agents/permissions.ts',
    what: 'rules of the agents above do not hold below',
    from: 'layers: [...(above?.layers ?? none), ...layers, ...bare]',
    to: 'layers: layers.length === 0 ? (above?.layers ?? none) : [...layers, ...bare]',
    tests: asking,
  },
  {
    id: 'permissions-8',
    file: 'src/protocol/parts/permissions/permissionState.ts',
    what: 'the file of another party grants rules',
    from: 'record.foreign === true ? state : { ...state',
    to: 'false ? state : { ...state',
    tests: ['journeys/resumesRules'],
  },
  {
    id: 'permissions-9',
    file: 'src/actors/parts/permissions/syncRules.ts',
    what: 'a rule that the process died with never reaches the store',
    from: 'if (isNew === true) await store.add',
    to: 'if (isNew !== true) await store.add',
    tests: adding,
  },
  {
    id: 'permissions-10',
    file: 'packages/bridge/src/server/commandRights.ts',
    what: 'who drives an agent may have nobody asked any more',
    from: "    command.mode === 'auto' ||\n",
    to: '',
    tests: ['packages/bridge/test/server/access'],
  },
  {
    id: 'permissions-11',
    file: 'packages/bridge/src/server/visible.ts',
    what: 'rules tell arguments to who may not see them',
    from: '  const { rule: _, suggest: __, ...seen } = event as',
    to: '  const { rule: _, ...seen } = event as',
    tests: ['packages/bridge/test/server/visible.test'],
  },
  {
    id: 'permissions-12',
    file: 'src/machines/hooks.ts',
    what: 'a call that people approved before there were rules is asked about again',
    from: '(decision === undefined || context.policy.flags.beforeTool === true)',
    to: 'true',
    tests: adding,
  },
]
