import { z } from 'zod'
import { formOf, type QuestionField } from '../../../bridge/src/client/questionForm.ts'
import {
  formRows,
  formState,
  stepForm,
  textsOf,
  type FormAnswer,
  type FormState,
} from '../../src/terminal/input/form.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

function fieldsOf(schema: z.ZodType): readonly QuestionField[] {
  const form = formOf(z.toJSONSchema(schema, { io: 'input' }))
  assert.ok(form.type === 'object')
  return form.fields
}

const trip = fieldsOf(
  z.object({
    to: z.string().describe('Where to'),
    express: z.boolean(),
    seats: z.int().min(1).max(10),
    note: z.string().optional(),
  }),
)

/** The form after keys by name; a word of one letter, or after a colon, is typed. */
function after(keys: string, fields = trip, begun = formState(fields)): FormState | FormAnswer {
  let state = begun
  for (const key of keys.split(' ')) {
    const isTyped = key.length === 1 || key.startsWith(':')
    const text = (key.length === 1 ? key : key.slice(1)).replaceAll('_', ' ')
    const next = stepForm(state, isTyped ? { type: 'text', text } : { type: 'key', name: key }, fields)
    if (next === undefined) continue
    if (!('at' in next)) return next
    state = next
  }
  return state
}

const drawn = (state: FormState | FormAnswer, columns = 60, rows = 30, fields = trip): string[] => {
  assert.ok('at' in state)
  return formRows(state, fields, { columns, rows }).rows.map(({ parts }) =>
    parts
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )
}

describe('a form at a terminal', (it) => {
  it('is filled in field by field, and read as a value', () => {
    const texts = { to: 'Ulm', express: 'no', seats: '3', note: '' }
    assert.equal(after(':Ulm tab n down 3 enter'), { value: { to: 'Ulm', express: false, seats: 3 }, texts })
    assert.equal(after(':Ulm tab right right tab 3 enter'), { value: { to: 'Ulm', express: false, seats: 3 }, texts })
  })

  it('goes to the first field that is wrong, says why, and forgets it once that is corrected', () => {
    const state = after(':Ulm down y down :99 up up enter')
    assert.ok('at' in state)
    assert.equal([state.at, state.problems], [2, { seats: 'at most 10' }])
    const corrected = after('backspace', trip, state)
    assert.ok('at' in corrected)
    assert.equal(corrected.problems, {})
    assert.ok('value' in after('enter', trip, corrected))
  })

  it('decides nothing by a key that was meant for something before it', () => {
    const free = fieldsOf(z.object({ note: z.string().optional() }))
    assert.equal(after('enter', free), formState(free))
    assert.ok('value' in after('x enter', free))
  })

  it('is declined by a hyphen in an otherwise empty form, with the words after it as the reason', () => {
    assert.equal(after('- enter'), { declined: '' })
    assert.equal(after(':-_ask_Ann enter'), { declined: 'ask Ann' })
    // Also where a choice would be made.
    assert.equal(after('tab - enter'), { declined: '' })
    assert.equal(after('tab - :_no enter'), { declined: 'no' })
    // Beside other input it is a text like any other.
    const beside = after('- tab y tab 3 enter')
    assert.ok('value' in beside)
    assert.equal(beside.value, { to: '-', express: true, seats: 3 })
    const filled = after(':-5 tab y tab 3 enter')
    assert.ok('value' in filled)
    assert.equal(filled.value, { to: '-5', express: true, seats: 3 })
  })

  it('takes a choice by its letters, its number or the arrows, and takes it back as a whole', () => {
    const choice = fieldsOf(z.object({ by: z.enum(['train', 'ship']).optional() }))
    const text = (keys: string): unknown => {
      const state = after(keys, choice)
      assert.ok('at' in state)
      return textsOf(state)['by']
    }
    assert.equal(['s', '2', 'left', 'right', 'right right right', 's backspace', 'x'].map(text), [
      'ship',
      'ship',
      'ship',
      'train',
      'train',
      '',
      '',
    ])
  })

  it('leaves keys alone that are not for a form', () => {
    const name = (key: string): unknown => stepForm(formState(trip), { type: 'key', name: key }, trip)
    assert.equal([name('escape'), name('ctrl+c'), name('pageUp')], [undefined, undefined, undefined])
  })
})

describe('the rows of a form', (it) => {
  it('are a name, what the schema says, the text and its fault, with a sign at the field of the keys', () => {
    const state = after(':Ulm down y down :99 enter')
    assert.equal(drawn(state), [
      '    to       Where to',
      '             Ulm',
      '    express  (•) yes   ( ) no',
      '  › seats    a whole number, 1 to 10',
      '             99',
      '             at most 10',
      '    note     may be left empty',
      '',
      '',
      '  Tab field · ← → choose · Enter answer · - none',
    ])
    assert.ok('at' in state)
    assert.equal(formRows(state, trip, { columns: 60, rows: 30 }).cursor, { row: 4, column: 15 })
  })

  it('are those around the field of the keys where not all have room, and none is too wide', () => {
    const state = after(':Ulm down y down 3')
    const rows = drawn(state, 20, 6)
    assert.equal(rows, [
      '  › seats    a whol…',
      '             3',
      '    note     may be…',
      '',
      '',
      '  Tab · ← → · Enter…',
    ])
    const many = fieldsOf(z.object(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, z.string()]))))
    for (let at = 0; at < many.length; at += 1) {
      const { rows: shown, cursor } = formRows({ ...formState(many), at }, many, { columns: 30, rows: 8 })
      assert.is(shown.length, 8)
      assert.match(shown[cursor.row]!.parts[0]!.text, `› f${at} `)
    }
  })

  it('show the end of a long text, where the cursor is', () => {
    const state = after(`:${'word_'.repeat(20)}end`)
    assert.ok('at' in state)
    const { rows, cursor } = formRows(state, trip, { columns: 40, rows: 30 })
    const text = rows[1]!.parts.map((part) => part.text).join('')
    assert.match(text, /word end$/)
    assert.ok(cursor.column < 40)
  })

  it('show one choice where they have no room beside each other', () => {
    const wide = fieldsOf(z.object({ by: z.enum(['a slow train', 'a fast ship', 'a small boat']) }))
    assert.match(drawn(after('right right', wide), 40, 30, wide)[0]!, '(•) a fast ship   2 of 3')
    assert.match(drawn(formState(wide), 40, 30, wide)[0]!, '( ) a slow train   0 of 3')
  })
})
