import type { Fault } from '../mutate.ts'

const reviews = 'packages/groups/src/reviews.ts'
const tests = ['groups/test/reviewed.test']

export const faults: readonly Fault[] = [
  {
    id: 'reviews-1',
    file: reviews,
    what: 'a second review begins while one is under way',
    from: 'this.#work === undefined && this.#held === undefined',
    to: 'this.#held === undefined',
    tests,
  },
  {
    id: 'reviews-2',
    file: reviews,
    what: 'a run may be told of any number of findings',
    from: '|| this.#told.size >= most',
    to: '',
    tests,
  },
  {
    id: 'reviews-3',
    file: reviews,
    what: 'a finding that comes after the run begins one unasked',
    from: "if (isAtRest && atRest === 'wait') return",
    to: '',
    tests,
  },
  {
    id: 'reviews-4',
    file: reviews,
    what: 'a review that an earlier process began is forgotten, with what it found',
    from: '(await agent.wasAsked(reviewKey(this.#plan.name, last)))) this.#goOn(last)',
    to: '(await agent.wasAsked(reviewKey(this.#plan.name, last)))) this.#leaveOut(last)',
    tests,
  },
  {
    id: 'reviews-5',
    file: reviews,
    what: 'a finding that was told before the process died is told again',
    from: 'if (last !== undefined && !(await agent.wasAsked(reviewKey(this.#plan.name, last)))) this.#goOn(last)',
    to: 'if (last !== undefined) this.#goOn(last)',
    tests,
  },
  {
    id: 'reviews-6',
    file: reviews,
    what: 'a review goes on when the agent is aborted',
    from: 'this.#leaveOut(event.seq)\n      this.#current?.abort()',
    to: 'this.#leaveOut(event.seq)',
    tests,
  },
  {
    id: 'reviews-7',
    file: reviews,
    what: 'findings that begin runs count anew in each',
    from: "record.cause !== 'resume' && upTo === undefined) this.#told.clear()",
    to: "record.cause !== 'resume') this.#told.clear()",
    tests,
  },
  {
    id: 'reviews-8',
    file: 'packages/groups/src/reviewWork.ts',
    what: 'an answer that says ok is told as a finding',
    from: "said === '' || /^",
    to: "said === '' && /^",
    tests,
  },
  {
    id: 'reviews-9',
    file: reviews,
    what: 'work that was not worth a review is in no other',
    from: 'this.#turns = [...turns, ...this.#turns]\n      this.#reviewed = after',
    to: 'this.#reviewed = after',
    tests,
  },
]
