import { useActorRef, useSelector } from '@xstate/react'
import { Activity, createElement, type ReactElement, StrictMode } from 'react'
import { act, create, type ReactTestRenderer } from 'react-test-renderer'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { agentLogic, type AgentLogic } from '../../../src/xstate.ts'
import type { Runtime } from '../../bridge/src/createRuntime.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { begin, held, talker } from './logicParts.ts'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

interface Shown {
  readonly tree: ReactTestRenderer
  /** Text on the screen. */
  text(): string
  /** Resolves once that is there. */
  until(text: string): Promise<void>
  show(element: ReactElement | null): Promise<void>
}

/** Renders an element; what React says to the console is a failure. */
async function shown({ cleanup }: CaseContext, element: ReactElement): Promise<Shown> {
  const said: unknown[][] = []
  const { error, warn } = console
  console.error = (...words: unknown[]): void => {
    if (!String(words[0]).includes('react-test-renderer is deprecated')) said.push(words)
  }
  console.warn = (...words: unknown[]): void => void said.push(words)
  let tree!: ReactTestRenderer
  await act(async () => {
    tree = create(element)
  })
  cleanup(async () => {
    await act(async () => tree.unmount())
    await quiet()
    Object.assign(console, { error, warn })
    assert.equal(said, [])
  })
  const text = (): string => JSON.stringify(tree.toJSON())
  return {
    tree,
    text,
    async until(wanted) {
      while (!text().includes(wanted)) await act(quiet)
    },
    show: async (next) => act(async () => tree.update(next as ReactElement)),
  }
}

const controls: { ask?: (content: string) => void; renders: number } = { renders: 0 }

function Desk({ logic, id }: { readonly logic: AgentLogic; readonly id: string }): ReactElement {
  const actor = useActorRef(logic, { input: { id } })
  const text = useSelector(actor, (snapshot) => snapshot.text)
  const state = useSelector(actor, (snapshot) => snapshot.state)
  const pending = useSelector(actor, (snapshot) => snapshot.pending)
  controls.ask = (content) => actor.send({ type: 'prompt', content })
  controls.renders += 1
  return createElement('p', null, `${state}: ${text} (${pending.length})`)
}

/** Makes its logic anew with every render, as is easily done. */
const Inline = ({ runtime, id }: { readonly runtime: Runtime; readonly id: string }): ReactElement =>
  createElement(Desk, { logic: agentLogic(runtime, talker), id })

const Watcher = ({ agent }: { readonly agent: Agent }): ReactElement => {
  const turns = useSelector(agent.ref, (snapshot) => snapshot?.context.turns)
  return createElement('p', null, `${turns} turns`)
}

describe('an agent in React', (it) => {
  it('talks through useActorRef and useSelector, mounted twice in strict mode, and ends with its component', async (context) => {
    const runtime = await begin(context)
    const desk = createElement(Desk, { logic: agentLogic(runtime, talker), id: 't1' })
    const { until, show } = await shown(context, createElement(StrictMode, null, desk))
    await until('idle')
    for (const answer of ['answer 1', 'answer 3']) {
      await act(async () => controls.ask!('hello'))
      await until(`idle: ${answer}`)
    }
    assert.is(runtime.agents().length, 1)
    await show(null)
    await quiet()
    assert.equal(runtime.agents(), [])
  })

  it('works with a logic that is made anew by every render, and renders no more often than something changes', async (context) => {
    const runtime = await begin(context)
    const { until, show } = await shown(context, createElement(Inline, { runtime, id: 't1' }))
    await until('idle')
    await show(createElement(Inline, { runtime, id: 't1' }))
    const agent = runtime.agent('t1')
    controls.renders = 0
    await act(async () => controls.ask!('hello'))
    await until('idle: answer 1')
    assert.ok(controls.renders <= 6, `${controls.renders} renders`)
    assert.is(runtime.agent('t1'), agent)
  })

  it('is aborted when its component is hidden, and answers again when it is shown', async (context) => {
    const runtime = await begin(context)
    const { model, definition } = held()
    const desk = createElement(Desk, { logic: agentLogic(runtime, definition), id: 't1' })
    const { until, show } = await shown(context, createElement(Activity, { mode: 'visible', children: desk }))
    await until('idle')
    await act(async () => controls.ask!('hello'))
    await act(() => model.begun)
    await show(createElement(Activity, { mode: 'hidden', children: desk }))
    assert.is(model.aborts, 1)
    model.release()
    await show(createElement(Activity, { mode: 'visible', children: desk }))
    await until('idle')
    await act(async () => controls.ask!('and now?'))
    await until('idle: well done 3')
    await show(null)
    await runtime.close()
  })

  it('shows the actor that runs its chart', async (context) => {
    const runtime = await begin(context)
    for (const agent of [await runtime.spawn(talker), await runtime.spawn(talker)]) {
      const { until } = await shown(context, createElement(Watcher, { agent }))
      await until('0 turns')
      await act(async () => void (await agent.prompt('hello').result))
      await until('1 turns')
    }
  })
})
