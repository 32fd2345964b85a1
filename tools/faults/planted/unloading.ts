import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'unloading-1',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'an agent is unloaded with a command on its way',
    from: 'machine.unseen === 0 &&',
    to: 'machine.unseen >= 0 &&',
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-2',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'an agent that somebody listens to is unloaded',
    from: `    !announcer.isAttended
`,
    to: `    announcer !== undefined
`,
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-3',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'an agent with a child is unloaded',
    from: `    waiting.every((list) => !context[list]?.length) &&
    context.calls.every(({ status }) => status === 'settled' || status === 'sleeping') &&
    family.live.length === 0 &&
`,
    to: `    family !== undefined &&
    waiting.length > 0 &&
`,
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-4',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'an agent is unloaded before its time',
    from: `      if (due > now) break
`,
    to: '',
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-5',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'an agent is unloaded before its log is written',
    from: 'if (pending !== undefined)',
    to: 'if (false as boolean && pending !== undefined)',
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-6',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'an agent whose log was slow is never unloaded',
    from: `          () => this.look(host),
          () => {},`,
    to: `          () => {},
          () => {},`,
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-7',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'the timer of an agent that ended keeps the process alive',
    from: `  forget(host: Idle): void {
    this.#due.delete(host)
`,
    to: `  forget(_host: Idle): void {
`,
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-8',
    file: 'src/runtime/agents/idleUnloader.ts',
    what: 'only the first to be due is ever unloaded',
    from: `      else if (isQuiet(host)) this.#unload(host)
    }
    this.#keepTime()`,
    to: `      else if (isQuiet(host)) this.#unload(host)
    }`,
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-9',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'an abort of an agent at rest loads it',
    from: `    if (event.type === 'abort' && (hasNothing || this.#commands?.at(-1)?.type === 'abort')) return
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-10',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'an agent is loaded while its old host still writes',
    from: `      await this.released
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-11',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'an agent that could not be loaded once is lost',
    from: `      this.#loading = undefined
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-12',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'runs that could not begin are begun by the next command',
    from: `      this.#commands = undefined
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-13',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'the result of a prompt that woke an agent never comes',
    from: '    this.machine.start(commands, () => this.wake())',
    to: `    this.runs.endAll(null)
    this.machine.start(commands, () => this.wake())`,
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-14',
    file: 'src/runtime/events/observers.ts',
    what: 'a listener of an unloaded agent hears nothing once it is loaded',
    from: `    this.#listeners = [...this.#listeners, entry]
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-40',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'a stop right after a prompt of an unloaded agent lets its model be asked first',
    from: `    if (this.#ending !== undefined) void this.#owner.machine.end(this.#ending.how).catch(() => {})
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-15',
    file: 'src/runtime/events/observers.ts',
    what: 'a listener that left while the agent was unloaded hears it all the same',
    from: `      this.#listeners = this.#listeners.filter((other) => other !== entry)
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-16',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'whoever iterates over events of an agent that is closed unloaded waits for ever',
    from: `    this.#owner.machine.over(null)
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-17',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'a stop that failed cannot be tried again',
    from: `      this.#ending = undefined
`,
    to: '',
    tests: ['runtime/waking'],
  },
  {
    id: 'unloading-18',
    file: 'src/runtime/registry.ts',
    what: 'a woken agent is another one to the application',
    from: `    if (old?.host === host) return
`,
    to: '',
    tests: ['runtime/unloading'],
  },
  {
    id: 'unloading-19',
    file: 'src/runtime/registry.ts',
    what: 'agents are missing from the list once the newest has ended',
    from: `    if (slot.next === undefined) this.#last = slot.before
    else slot.next`,
    to: '    if (slot.next !== undefined) slot.next',
    tests: ['runtime/registry'],
  },
  {
    id: 'unloading-20',
    file: 'src/runtime/registry.ts',
    what: 'a page has one agent too many',
    from: 'agents.length < limit',
    to: 'agents.length <= limit',
    tests: ['runtime/registry'],
  },
  {
    id: 'unloading-21',
    file: 'src/runtime/children/children.ts',
    what: 'a sub-agent that could not be opened keeps its log locked',
    from: `      await lease.release()
      const isAnother`,
    to: '      const isAnother',
    tests: ['journeys/refusesSubAgents', 'journeys/abortsATree', 'tree/chaosTree'],
  },
  {
    id: 'unloading-22',
    file: 'src/runtime/runtime.ts',
    what: 'a new life opens the log before the last one has let it go',
    from: `    await this.#hosts.released(agentId)
`,
    to: '',
    tests: ['runtime/childEndings', 'journeys/supervises', 'tree/chaosTree'],
  },
  {
    id: 'unloading-23',
    file: 'src/runtime/children/childErrors.ts',
    what: 'a tree grows without end',
    from: 'if (depth > maxDepth)',
    to: 'if (depth > 1_000)',
    tests: ['journeys/refusesSubAgents'],
  },
  {
    id: 'unloading-24',
    file: 'src/runtime/children/children.ts',
    what: 'a sub-agent that was done before the crash is asked again',
    from: 'if (answer !== undefined) {',
    to: 'if (answer !== undefined && input.life < 0) {',
    tests: ['runtime/crashedTwice', 'tree/chaosTree'],
  },
  {
    id: 'unloading-25',
    file: 'src/runtime/children/children.ts',
    what: 'a sub-agent that nobody came to run holds its log',
    from: '      cancellation.add(() => queueMicrotask(() => this.#discard(childId, life)))\n',
    to: '',
    tests: ['journeys/abortsATree', 'tree/chaosTree'],
  },
  {
    id: 'unloading-26',
    file: 'src/runtime/children/childHistory.ts',
    what: 'the log of another agent is gone on with',
    from: 'if (isSame && definition === agent.definition.name) return history',
    to: 'if (isSame || definition === agent.definition.name) return history',
    tests: ['journeys/refusesSubAgents', 'journeys/supervises'],
  },
  {
    id: 'unloading-27',
    file: 'src/runtime/children/children.ts',
    what: 'every sub-agent leaves a timer behind',
    from: `    stalled.cancel()
`,
    to: '',
    tests: ['tree/treeLeaks', 'journeys/supervises'],
  },
  {
    id: 'unloading-28',
    file: 'src/runtime/children/continueLife.ts',
    what: 'a crash gives a sub-agent a fresh allowance',
    from: 'limitsWithin(pausedLimits ?? {}, limits)',
    to: 'limits',
    tests: ['journeys/callsSubAgents', 'journeys/supervises', 'tree/chaosTree'],
  },
  {
    id: 'unloading-29',
    file: 'src/runtime/children/children.ts',
    what: 'what a child had used before it was attached is counted again',
    from: 'usedBefore: isCalled ? usedBefore : child.usedBefore',
    to: 'usedBefore: isCalled ? usedBefore : undefined',
    tests: ['journeys/continuesSubAgents'],
  },
  {
    id: 'unloading-30',
    file: 'src/runtime/children/childAnswer.ts',
    what: 'a sub-agent that came to its own limit is gone on with for ever',
    from: 'reason.allowed < (policy?.limits[reason.limit] ?? Infinity)',
    to: 'reason.allowed < Infinity',
    tests: ['journeys/continuesSubAgents'],
  },
  {
    id: 'unloading-31',
    file: 'src/runtime/children/children.ts',
    what: 'a sub-agent that was given more is answered for by its log',
    from: 'finishedAnswer(own, definition, counted !== undefined)',
    to: 'finishedAnswer(own, definition, false)',
    tests: ['journeys/continuesSubAgents'],
  },
  {
    id: 'unloading-32',
    file: 'src/runtime/children/children.ts',
    what: 'what a sub-agent used before a pause is charged to the next run',
    from: 'usedBefore: isCalled ? usedBefore : child.usedBefore',
    to: 'usedBefore: isCalled ? undefined : child.usedBefore',
    tests: ['journeys/continuesSubAgents'],
  },
  {
    id: 'unloading-33',
    file: 'src/runtime/children/spawnChild.ts',
    what: 'more children than maxChildren are asked for in one step',
    from: '- aliveChildren(machine.context) - (children?.unseen ?? 0))',
    to: '- aliveChildren(machine.context))',
    tests: ['journeys/refusesSubAgents', 'journeys/supervises'],
  },
  {
    id: 'unloading-34',
    file: 'src/runtime/agents/machine.ts',
    what: 'more than maxQueue messages wait',
    from: 'this.#unseen = Math.max(0, this.#unseen - 1)',
    to: 'this.#unseen = 0',
    tests: ['journeys/steersARun'],
  },
  {
    id: 'unloading-35',
    file: 'src/runtime/agents/machine.ts',
    what: 'an agent that an inspector follows is unloaded',
    from: ' || this.#inspections?.isEmpty === false',
    to: '',
    tests: ['runtime/unloading', 'packages/stately/test/stately'],
  },
  {
    id: 'unloading-36',
    file: 'src/runtime/agents/machine.ts',
    what: 'the tools of an agent that crashed run on',
    from: `    for (const child of Object.values(children)) child?.send({ type: 'xstate.stop' })
`,
    to: '',
    tests: ['journeys/supervises', 'journeys/survivesBadModels', 'tree/chaosTree'],
  },
  {
    id: 'unloading-37',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'the result of a run never comes when the agent crashes',
    from: `    this.runs.endAll(crash)
`,
    to: '',
    tests: ['journeys/supervises', 'runtime/unloading'],
  },
  {
    id: 'unloading-38',
    file: 'src/runtime/agents/log.ts',
    what: 'a log that could not be written to the end stays locked',
    from: `      if (!this.#writer.isLost && !this.#agent.shared.isStoreOver()) await this.#keeper?.finish()
    } finally {
      this.#keeper = undefined
      await this.#lease.release()
    }`,
    to: `      if (!this.#writer.isLost && !this.#agent.shared.isStoreOver()) await this.#keeper?.finish()
      await this.#lease.release()
    } finally {
      this.#keeper = undefined
    }`,
    tests: ['runtime/closing', 'journeys/survivesAFailingStore'],
  },
  {
    id: 'unloading-39',
    file: 'src/runtime/agents/commands.ts',
    what: 'a prompt to an agent whose store failed is lost',
    from: `  if (pause?.type !== 'store') return`,
    to: `  if (pause?.type !== 'store' || agentId !== '') return`,
    tests: ['journeys/survivesAFailingStore'],
  },
]
