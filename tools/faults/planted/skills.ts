import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'skills-1',
    file: 'packages/tools/src/skills/frontMatter.ts',
    what: 'front matter in another language is taken',
    from: `if (opening !== '---') {`,
    to: `if (!opening.startsWith('---')) {`,
    tests: ['tools/test/skills'],
  },
  {
    id: 'skills-2',
    file: 'packages/tools/src/skills/frontMatter.ts',
    what: 'aliases are expanded',
    from: 'document.toJS({ maxAliasCount: 0 })',
    to: 'document.toJS({ maxAliasCount: -1 })',
    tests: ['tools/test/skills'],
  },
  {
    id: 'skills-3',
    file: 'packages/tools/src/skills/scanSkills.ts',
    what: 'a link in a folder of skills leads to a skill elsewhere',
    from: 'if (!isInside(root, real)) return',
    to: `if (real === '') return`,
    tests: ['tools/test/skills'],
  },
  {
    id: 'skills-4',
    file: 'packages/tools/src/skills/scanSkills.ts',
    what: 'a changed skill is not read again',
    from: 'if (known?.print === print)',
    to: 'if (known !== undefined)',
    tests: ['tools/test/skills'],
  },
  {
    id: 'skills-5',
    file: 'packages/tools/src/skills/readSkillTool.ts',
    what: 'a file outside the skill is looked at before it is refused',
    from: 'await workspace.locate(path)',
    to: 'join(workspace.root, path)',
    tests: ['tools/test/skills'],
  },
  {
    id: 'skills-6',
    file: 'packages/tools/src/skills/readSkillTool.ts',
    what: 'the instructions of a skill may be folded',
    from: '      context.pin()\n',
    to: '',
    tests: ['tools/test/skills'],
  },
  {
    id: 'skills-7',
    file: 'src/machines/calls.ts',
    what: 'after a crash a result stands in the log whose pin was lost',
    from: `    if (output.pins === true) pinResult(draft, draft.callAt(index))
    if (mayGoOn(draft, output)) pauseCall(draft, index, output.spent)
    else endCall(draft, index, handedOver(draft, output))`,
    to: `    if (mayGoOn(draft, output)) pauseCall(draft, index, output.spent)
    else endCall(draft, index, handedOver(draft, output))
    if (output.pins === true) pinResult(draft, draft.callAt(index))`,
    tests: ['braking/toolPins'],
  },
  {
    id: 'skills-8',
    file: 'src/machines/brakes.ts',
    what: 'a call that ran again after a crash is pinned twice',
    from: ' || draft.context.pins.some((request) => request.id === id)',
    to: '',
    tests: ['braking/toolPins'],
  },
  {
    id: 'skills-9',
    file: 'src/conversation/tree/annotations.ts',
    what: 'a step stays pinned that a revert abandoned',
    from: 'if (this.#yielding.delete(id)) this.#pinned.delete(id)',
    to: 'this.#yielding.delete(id)',
    tests: ['braking/toolPins'],
  },
  {
    id: 'skills-10',
    file: 'src/conversation/brakes/pins/pins.ts',
    what: 'what a tool pinned holds against reverts',
    from: 'annotations.pinned.has(node.id) && !annotations.yielding.has(node.id)',
    to: 'annotations.pinned.has(node.id)',
    tests: ['braking/toolPins'],
  },
  {
    id: 'skills-11',
    file: 'packages/tools/src/skills/readSkill.ts',
    what: 'a description may take any room',
    from: 'cutEnd(told, mostOfDescription)',
    to: 'told',
    tests: ['tools/test/skills'],
  },
]
