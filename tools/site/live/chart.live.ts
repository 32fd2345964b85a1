import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { chart } from '../../../packages/charts/src/chart.ts'
import { draw, element } from './drawn.ts'

const brakes = ['fold', 'revert', 'prune', 'stall'] as const
const states = ['idle', 'preparing', 'replying', 'executing', 'draining', 'compacting', 'backoff', 'paused'] as const

/** The chart of a definition that the reader puts together. */
function start(place: HTMLElement): void {
  const picture = element('div')
  const boxes = brakes.map((name) => element('input', { type: 'checkbox', value: name, id: `chart-${name}` }))
  const state = element('select', { id: 'chart-state' })
  state.append(...states.map((name) => element('option', { value: name }, [name])))
  const show = async (): Promise<void> => {
    const on = Object.fromEntries(boxes.map(({ value, checked }) => [value, checked]))
    const agent = defineAgent({ name: 'coder', model: policyModel(() => ''), braking: on })
    const svg = await chart(agent, { format: 'svg', active: [state.value] })
    draw(picture, svg, { alt: 'The statechart of an agent as you chose it', name: 'chart-live' })
  }
  for (const control of [...boxes, state]) control.addEventListener('change', () => void show())
  const label = (box: HTMLInputElement): HTMLElement => element('label', { for: box.id }, [box, ` ${box.value}`])
  place.replaceChildren(
    element('div', { class: 'playground-bar' }, [
      element('fieldset', {}, [element('legend', {}, ['Brakes']), ...boxes.map(label)]),
      element('label', { for: 'chart-state' }, ['State ']),
      state,
    ]),
    picture,
  )
  boxes[1]!.checked = true
  state.value = 'draining'
  void show()
}

const place = document.getElementById('live-chart')
if (place !== null) start(place)
