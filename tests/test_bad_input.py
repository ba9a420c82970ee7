"""Bad model files: every independent problem in one run, with its place, key, message and hint;
no other exception, and nothing that only follows from another problem."""

from __future__ import annotations

from typing import Any

import pytest

import anyjoint as aj

# A row: template | text | key | message | hint || key | message | hint …; hints may be left
# out, - is an empty text. § marks the places of the problems, ⏎ is a line break, @ a fixed joint,
# ~ the key of the template's place; a line that starts with a space belongs to the row before.
HEAD = "anyjoint: 1\nname: m\n"
SOLID = "mass: 1, inertia: [1, 1, 1]"
TURNS = "parent: world, joint: {type: revolute, axis: y}"
TEMPLATES = {  # name: (text, key)
    "raw": ("%s", ""),
    "name": ("anyjoint: 1\nname: %s\nbodies: {a: {parent: world, joint: {type: fixed}}}", ""),
    "file": (HEAD + "%s\n", ""),
    "top": (HEAD + f"bodies:\n  a: {{{TURNS}, {SOLID}}}\n%s\n", ""),
    "body": (HEAD + f"bodies:\n  a: {{{TURNS}, %s}}\n", "bodies.a"),
    "solid": (HEAD + f"bodies:\n  a: {{{TURNS}, {SOLID}, %s}}\n", "bodies.a"),
    "joint": (HEAD + f"bodies:\n a: {{parent: world, {SOLID}, joint: {{%s}}}}\n", "bodies.a.joint"),
    "type": (HEAD + f"bodies:\n  a: {{parent: world, {SOLID}, joint: {{type: t}}}}\n"
             "joint_types:\n  t: {%s}\n", "joint_types.t"),
    "coupled": (HEAD + "constants: {c: 2}\nbodies:\n" + "".join(
        f"  {name}: {{parent: world, {SOLID}, joint: {{type: {joint}}}}}\n" for name, joint in {
            "a": "revolute", "b": "revolute", "c": "prismatic", "s": "spherical", "t": "planar",
            "f": "fixed"}.items()) + "%s\n", ""),
}
BAD = """
raw | a: [1⏎§ | - | not YAML | spaces
file | bodies: {a: b§: c} | - | not YAML | quote
top | §name: x | name | "name" is here twice, first on line 2 | rename one
body | mass: 1, §mass: 2 | ~.mass | "mass" is here twice | remove
joint | type: revolute, §type: §*b | ~.type | "type" is here twice || ~.type | no anchor
raw | §anyjoint: §2⏎bodies: §[a] | - | "name" is missing | keys: act || anyjoint | expected 1 ||
 bodies | expected a mapping | bodies: {name
name | §a-b | name | "a-b" is no identifier | letters
name | §a__b | name | prefix of C symbols | no two _
top | §bodis: {} | bodis | unknown key "bodis" | did you mean "bodies"?
solid | §inertial: 1 | ~.inertial | unknown key | did you mean "inertia"?
body | mass: 1, inertia: {xx: 1, yy: 1, zz: 1, §zx: 0} | ~.inertia.zx | unknown key | xx, xy, xz
body | shapes: [{type: sphere, radius: 1, mass: 1, §tube: 2}] | ~.shapes[0].tube | unknown | radius
joint | type: revolute, §dampin: 1 | ~.dampin | unknown key | did you mean "damping"?
top | actuators: {m: {joint: a, §gera: 1}}⏎frames: {f: {body: a, §xy: 1}} | actuators.m.gera | key |
 did you mean "gear"? || frames.f.xy | unknown key | "xyz"?
type | transform: [{§rotzz: 1}], §coords: 1 | ~.transform[0].rotzz | unknown key | "rotz"? ||
 ~.coords | unknown key | coordinates
file | bodies: §{} | bodies | at least 1 item
file | bodies: {a: §, b: {parent: world, joint: §revolute}} | bodies.a | expected a mapping ||
 bodies.b.joint | expected a mapping
file | bodies: {§a: {@}, §b: {parent: a}} | bodies.a | "parent" is missing || bodies.b | "joint" is
 missing | for example {type: rev
file | bodies: {a: {parent: §wrld, @}, b: {parent: §b, @}} | bodies.a.parent | unknown parent "wrld"
 | did you mean "world"? || bodies.b.parent | b → b | world
file | bodies: {b: {parent: §c, @}, c: {parent: b, @}, d: {parent: §c, @}} | bodies.b.parent |
 circle: b → c → b | the world || bodies.d.parent | does not reach the world
file | bodies: {b: {parent: §x, @}, c: {parent: b, @}} | bodies.b.parent | unknown parent "x" |
 bodies: b, c, world
file | bodies: {§1b: {parent: world, @}} | bodies.1b | no identifier | letters
joint | name: §a b, type: revolute | ~.name | no identifier | not a digit first
top | constants: {§a b: 1}⏎parameters: {§c-: 1}⏎states: {§é: {}} | constants.a b | no identifier ||
 parameters.c- | no identifier || states.é | no identifier
type | coordinates: {§u-: 0}, arguments: {§v w: 1}, transform: [] | ~.coordinates.u- | no ||
 ~.arguments.v w | no
top | parameters: {pi: §1}⏎constants: {sin: §1} | parameters.pi | already a | rename ||
 constants.sin | already a | rename
body | §mass: 0 | ~.mass | mass matrix is singular | armature
body | §mass: 1, com: [0, 3, 0] | ~.mass | mass matrix is singular | armature
body | §mass: -1, inertia: [1, 1, 1] | ~.mass | the mass is -1 | mass > 0
file | bodies: {a: {parent: world, joint: {type: revolute}, mass: 1, inertia: [1, 1, 1]}, §b:
 {parent: a, joint: {type: prismatic}}} | bodies.b | mass matrix is singular | armature
body | §com: [0, 0, 1] | ~.com | "mass" is missing | go with a mass
body | mass: 1, check_inertia: false, inertia: §[-1, 1, 1] | ~.inertia | principal moments -1, 1, 1
 | com
body | mass: 1, inertia: §{xx: 1, yy: 1, zz: 1, xy: 2} | ~.inertia | not positive | URDF
body | mass: 1, inertia: §[1, 1, 3] | ~.inertia | the largest exceeds | check_inertia: false
body | mass: §[1], inertia: §[1, 1] | ~.mass | got a list || ~.inertia | at least 3 items, not 2
body | com: [0, §true, 0], mass: § | ~.com[1] | a boolean is never a number | a formula || ~.mass |
 got nothing
body | mass: §.nan, com: [0, §-.inf, 0] | ~.mass | nan is not a finite number | finite || ~.com[1] |
 -inf is not a finite
top | gravity: [0, §false, §1e999] | gravity[1] | a boolean || gravity[2] | inf is not
top | gravity: [0, 0, §g] | gravity[2] | unknown name "g" | known: deg, pi
joint | type: revolute, axis: §[0, 0, 0] | ~.axis | can't be zero | [0, 0, 1]
joint | type: revolute, axis: §w | ~.axis | one of x, y, z | [0, 1, 1]
type | coordinates: {u: 0}, transform: [{rotate: {axis: §[0, 0, 0], angle: u}}] |
 ~.transform[0].rotate.axis | can't be zero
top | constants: {k: §nope, l: -1e308} | constants.k | unknown name "nope" | known: deg, l, pi
top | constants: {length: 1, k: 2*§lenght} | constants.k | unknown name | did you mean "length"?
body | mass: §sinh(2) | ~.mass | unknown function "sinh" | did you mean "sin"?
body | mass: §__import__('os') | ~.mass | unknown function "__import__" | functions: abs
body | mass: §__import__('os').system('true') | ~.mass | not allowed in a formula | allowed: +
body | mass: §m.real | ~.mass | "m.real" (attribute) is not allowed | allowed: +
body | mass: §9**9**9 | ~.mass | no value here
body | mass: 1 + §1/0, com: [0, 0, §sqrt(-1)] | ~.mass | division by zero || ~.com[2] | no value
body | mass: §2^3 | ~.mass | bitxor | use ** for powers
body | mass: "§sin(1, 2)" | ~.mass | takes 1 argument(s), not 2
body | mass: 1, com: [0, 0, §atan2(y, x)] | ~.com | quote this formula | write
 "atan2(y, x)"
top | constants: {k: §l, l: k} | constants.k | circular definition: k → l → k | break
top | constants: {k: §l}⏎parameters: {l: k} | constants.k | circular definition: k → l → k
top | constants: {k: 2*§z, l: k, n: l} | constants.k | unknown name "z"
top | parameters: {k: 1}⏎constants: {§k: 2} | constants.k | taken by parameters.k | rename
solid | frames: {§a: {}} | ~.frames.a | taken by bodies.a | rename
top | frames: {§world: {body: a}} | frames.world | taken by the world | rename
file | bodies: {a: {parent: world, @}, b: {parent: a, joint: {§name: a, type: fixed}}} |
 bodies.b.joint.name | the name "a" is taken | rename
file | bodies: {a: {parent: world, joint: {type: universal}, mass: 1, inertia: [1, 1, 1]}, b:
 {parent: a, joint: {name: §a_q1, type: prismatic}, mass: 1}} | bodies.b.joint.name | same name in C
file | bodies: {a_<k>: {repeat: §{k: [1, 10000000]}, parent: world, @}} | bodies.a_<k>.repeat | more
 than 20000
file | bodies: {a_<k>_<l>: {repeat: §{k: [1, 9999], l: [1, 9999]}, parent: world, @}} |
 bodies.a_<k>_<l>.repeat | more than 20000
file | bodies: {a_<k>: {repeat: §{k: [1, 2.5]}, parent: world, @}} | bodies.a_<k>.repeat | two whole
 numbers | [1, 10]
file | bodies: {a: {repeat: §3}, b: {repeat: §{k: [1, 2]}}} | bodies.a.repeat | counters | [1, 10]
 || bodies.b.repeat | "b" is there twice | body_<k>
file | bodies: {<n>: {repeat: §{k: [1, 2]}}, <k/2>: {repeat: §{k: [1, 2]}}} | bodies.<n>.repeat |
 unknown name "n" | k, pi || bodies.<k/2>.repeat | not a whole number
file | bodies: {a_<k>: {repeat: {k: [1, 3]}, parent: world, @, §mas: 1}} | bodies.a_1.mas | unknown
 key
joint | type: §revolut | ~.type | unknown joint type "revolut" | did you mean "revolute"?
joint | type: §curv, curve: {type: circle, radius: 1}, up: [0, 0, 1] | ~.type | unknown joint type
 "curv" | did you mean "curve"?
joint | type: composite, joints: [{type: §curv, curve: {type: circle, radius: 1}}, {type: revolute}]
 | ~.joints[0].type | unknown joint type "curv" | did you mean "curve"?
joint | §typ: curve, curve: {type: circle, radius: 1} | ~.typ | unknown key "typ" | "type"?
joint | type: §[curve], curve: {} | ~.type | the name of a type | types: composite
joint | type: curve, curve: §line | ~.curve | a mapping with a type | write {type: line}
joint | type: curve, curve: § | ~.curve | a mapping with a type | types: bezier
joint | type: curve, §curve: {} | ~.curve | "type" is missing | types: bezier
joint | type: curve, curve: {§typ: circle, radius: 1} | ~.curve.typ | unknown key | mean "type"?
joint | type: curve, curve: {type: §null} | ~.curve.type | the name of a type | types: bezier
joint | type: surface, surface: {type: §[plane]} | ~.surface.type | the name of a type | types: bez
joint | type: curve, curve: {type: circle, §raduis: 1} | ~.curve.raduis | unknown | "radius"?
joint | type: curve, curve: {type: circle, radius: 1}, frame: §upp, up: z | ~.frame | 'up' or | "up"
joint | type: curve, curve: {type: line}, §frme: up | ~.frme | unknown key | mean "frame"?
joint | type: curve, curve: {type: line}, frame: up, rotation: §spinn, rest: {spin: 1}, damping: [1,
 2]⏎ } }⏎states: {s: {a.spin: 1 | ~.rotation | expected 'none' | mean "spin"?
joint | type: curve, curve: {type: bspline, points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]], ends:
 §perodic} | ~.curve.ends | expected 'open' | mean "periodic"?
joint | type: rolling, radius: 1, track: §insde, track_radius: 2 | ~.track | expected | "inside"?
joint | type: rolling, radius: 1, track: inside, track_radius: § | ~.track_radius | got nothing |
 for example
joint | type: rolling, radius: §zz, track: inside, track_radius: §zz | ~.radius | unknown name ||
 ~.track_radius | unknown name
joint | type: spline_surface, points: [[§[0, 0, 0], [1]], [[2], [3, 3, 3]]] | ~.points[0][0] | at
 least 6 items | points: [[[6 numbers], …], …]
joint | type: surface, surface: {type: bspline, points: [[§0, 0, 0], [0, 1, 0]]} |
 ~.surface.points[0][0] | expected a list | points: [[[x, y, z], …], …]
joint | type: revolute, axis: §[0, 0, 0], §dampin: 2 | ~.axis | zero || ~.dampin | "dampin"
type | coordinates: {u: 0}, §trxnsform: [{rotz: u}]}⏎  s: {coordinates: {w: 0}, transform: [{use: t,
 with: {u: w}}, {use: §r}] | ~.trxnsform | unknown key | "transform"? ||
 joint_types.s.transform[1].use | unknown joint type "r"
joint | type: surface, §§§surface: {type: ellipsoid} | ~.surface | "a" is || ~.surface | "b" is ||
 ~.surface | "c" is missing
type | coordinates: {u: 0}, transform: [{use: §t, with: {u: u}}] | ~.transform[0].use |
 itself
type | coordinates: {u: 0}, transform: [{use: §tt}] | ~.transform[0].use | unknown joint type | "t"?
type | coordinates: {u: 0}, transform: [{rotz: §w}] | ~.transform[0].rotz | unknown name "w" | u
type | coordinates: {u: §k}, arguments: {r: §n}, transform: [{rotz: u}] | ~.coordinates.u | unknown
 name "k" || ~.arguments.r | unknown name "n"
type | coordinates: {u: 0}, transform: [§{rotz: u, rotx: u}, {exp: §[u, 0]}] | ~.transform[0] |
 exactly one key | shift || ~.transform[1].exp | at least 3 items
file | joint_types: {§t: {}}⏎bodies: {a: {parent: world, @}} | joint_types.t | "transform" is
 missing | keys: arguments
joint | type: universal, rest: §[1, 2, 3] | ~.rest | 3 values for 2 coordinates | order: q1, q2
joint | type: universal, damping: {§q5: 2} | ~.damping.q5 | no coordinate "q5" | q1, q2
joint | type: revolute, damping: §-1, effort: §-1 | ~.damping | negative || ~.effort | negative
joint | type: revolute, range: §[1, 0] | ~.range | lower end 1 is above | [lower, upper]
joint | type: spherical, rest: §[0, 0, 0, 0] | ~.rest | quaternion can't be zero | (1, 0, 0, 0)
joint | type: spherical_euler, order: §xyy | ~.order | one axis twice | zyx
joint | type: composite, joints: §[{name: u, type: revolute}, {name: u, type: prismatic}] | ~.joints
 | two parts
joint | type: composite, joints: [{type: revolute, damping: §1}] | ~.joints[0].damping | belongs
solid | origin: §{rpy: [0, 0, 0], quat: [1, 0, 0, 0]} | ~.origin | rpy or quat, not both
solid | origin: {quat: [§zz, 0, 0, 0]} | ~.origin.quat[0] | unknown name "zz"
solid | origin: {quat: §[0, 0, 0, 0]} | ~.origin.quat | can't be zero | w, x, y, z
solid | shapes: [§{type: sphere, radius: 1, mass: 1}] | ~.shapes[0] | "mass" and shapes | remove
body | shapes: [§{type: sphere, radius: 1, mass: 1, density: 1}] | ~.shapes[0] | not both | remove
body | shapes: [{type: §spere, radius: 1}, §{radius: 1}] | ~.shapes[0].type | unknown | "sphere"? ||
 ~.shapes[1] | "type" is missing | types: box, c
body | shapes: [{type: sphere, radius: 1, density: §-1}] | ~.shapes[0].density | negative
top | states: {home: {§aa: 1, §a.x: 1}} | states.home.aa | unknown coordinate "aa" | "a"? ||
 states.home.a.x | unknown coordinate "a.x"
top | states: {home: {a: §[1, 2]}} | states.home.a | 2 values for 1 coordinates
top | actuators: {m: {joint: §aa}} | actuators.m.joint | no joint or coordinate "aa" | "a"?
top | forces: {f: {type: spring, from: §b, to: §c}} | forces.f.from | body "b" | a || forces.f.to |
 "c"
top | frames: {f: {body: §b}}⏎forces: {g: {type: drag, frame: f}} | frames.f.body | no body "b" | a
top | include: §none.yaml | include | can't read
top | constants: {k: 1, §k: 2}⏎§bodis: {} | constants.k | is here twice || bodis | unknown key
top | §constantx: {k: 1}⏎gravity: [0, 0, k] | constantx | unknown key | did you mean "constants"?
joint | type: t, k: §[1]⏎ } }⏎§joint_type: {t: {transform: [] | ~.k | got a list || joint_type
 | unknown key | did you mean "joint_types"?
joint | type: t, rest: 1, damping: [§[1]], effort: §-1⏎ } }⏎joint_types: {t: {coordinates: {u: 0},
 transform: [{rotz: u}]}}⏎states: {s: {§aa: 1 | ~.damping[0] | got a list || ~.effort | negative ||
 states.s.aa | unknown
top | §framez: {f: {body: a}}⏎forces: {g: {type: drag, frame: f}} | framez | unknown key | "frames"?
top | §bodis: {}⏎include: §none.yaml | bodis | unknown key || include | can't read
top | §bodis: {}⏎forces: {f_<k>: {repeat: §3}} | bodis | unknown || forces.f_<k>.repeat | counters
top | constants: {k: §max(1, 2), l: §z}⏎gravity: [0, 0, 1/(k-1)] | constants.k | quote this |
 write "max(1, 2)" || constants.l | unknown name "z"
file | bodies: {a: {parent: §!x world, @}, §1: {parent: world, @}, b: {parent: §c, @, §mas: 2}} |
 bodies.a.parent | tag || bodies.1 | text, not 1 || bodies.b.parent | "c" || bodies.b.mas | unknown
top | frames: {f: {body: a, xyz: &x [0, §!t 1, §true]}, g: {body: §b, xyz: *x}} | frames.f.xyz[1] |
 tag || frames.f.xyz[2] | a boolean || frames.g.body | no body "b"
top | frames: {f: {§<<: {}}, §true: {}, h: {body: a, §xy: 1}} | frames.f | merge keys || frames.true
 | text, not true || frames.h.xy | unknown key
file | bodies: {a_<k>: {repeat: §3, parent: a_<k-1>, @}, b: {parent: a_1, @, mass: §z}}⏎states: {s:
 {a_1: 1}} | bodies.a_<k>.repeat | counters || bodies.b.mass | unknown name "z"
file | bodies: {a_<k>: {repeat: {k: [1, 3]}, parent: a_<k-1>, @, mass: §max(1, 2)}, b: {parent: a_2,
 @, §mas: 1}} | bodies.a_<k>.mass | quote || bodies.b.mas | unknown key
file | bodies: {a_<k>: {repeat: §*n, parent: a_<k-1>, @}, b: {parent: a_2, @, §mas: 1}} |
 bodies.a_<k>.repeat | no anchor || bodies.b.mas | unknown key
file | bodies: {a_<k>: {repeat: §{k: [1, 9999]}, parent: world, @, shapes: [[0, 0, 0, 0, 0, 0, 0, 0,
 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
 ]]}} | bodies.a_<k>.repeat | more than 1,000,000 values in all copies
joint | type: revolute, §dampin: 1⏎ } }⏎states: {s: {§aa: 1 | ~.dampin | unknown key || states.s.aa
 | unknown coordinate "aa"
joint | name: aa, type: §*t⏎ } }⏎states: {s: {aa: [1, 2] | ~.type | no anchor
top | constants: {a1: §&f 1+z1, b1: §*f, c1: §"1 +\\x20z1", d1: '1+§z1'} | constants.a1 | "z1" ||
 constants.b1 | "z1" || constants.c1 | "z1" || constants.d1 | "z1"
top | constants:⏎  k: §|⏎    1 + 2 + 3 + 4 + 5 + 6 + z | constants.k | unknown name "z"
top | constants: {§k: §zz}⏎parameters: {k: 1} | constants.k | taken || constants.k | "zz"
type | coordinates: {u: 0}, transform: [{rotz: §w}, {rotx: §z}] | ~.transform[0].rotz | "w" ||
 ~.transform[1].rotx | "z"
type | coordinates: {u: 0}, transform: [{rotx: u}, {quat: §[0, 0, 0, 0]}] | ~.transform[1].quat |
 zero
type | coordinates: {§pi: 0}, transform: [{rotz: pi}] | ~.coordinates.pi | already a
type | coordinates: {u: 0}, arguments: {§u: 1}, transform: [{rotz: u}] | ~.arguments.u | taken
type | coordinates: {u: 0}, arguments: {§rest: 1}, transform: [{rotz: u}] | ~.arguments.rest | -
file | joint_types: {§fixed: {transform: []}}⏎bodies: {a: {parent: world, @}} | joint_types.fixed |
 -
joint | type: composite, joints: [{name: §u v, type: revolute}] | ~.joints[0].name | identifier
joint | type: formula, coordinates: {§u-: 0, w: 0}, transform: [{rotz: w}, {shift: [w, 0, 0]}] |
 ~.coordinates.u- | identifier
joint | type: §universl, range: [[0, 1], [0, 1]]⏎ } }⏎states: {s: {a: [1, 2] | ~.type | unknown
 joint
top | constants: {k: §zz}⏎frames: {f: {body: a, quat: [k-1, 0, 0, 0]}} | constants.k | "zz"
joint | type: revolute, armature: §-1 | ~.armature | neg
joint | type: revolute, friction: 1, friction_velocity: §0 | ~.friction_velocity | -
joint | type: spherical, rest: §1 | ~.rest | 4 values
top | actuators: {m: {joint: a, limit: §-1}} | actuators.m.limit | neg
top | forces: {f: {type: spring, from: a, to: world, stiffness: §-1}} | forces.f.stiffness | neg
top | states: {§rest: {a: 1}} | states.rest | - | rename
solid | shapes: [{type: sphere, radius: §k}] | ~.shapes[0].radius | unknown name "k"
body | shapes: [{type: sphere, radius: §-1, mass: 1}] | ~.shapes[0].radius | -
top | parameters: {k: 0}⏎gravity: [0, 0, §1/k] | gravity[2] | division by zero
top | parameters: {k: 0}⏎frames: {f: {body: a, quat: §[k, 0, 0, 0]}} | frames.f.quat | zero
raw | anyjoint: §true⏎name: m⏎bodies: {a: {parent: world, @}} | anyjoint | -
joint | type: revolute, axis: [1, 0, §true] | ~.axis[2] | a boolean
coupled | couplings: {§aa: b, b: 2*§bb} | couplings.aa | unknown coordinate "aa" | did you mean "a"?
 || couplings.b | unknown name "bb" | known: a
coupled | couplings: {§t: a, b: §t, §f: a} | couplings.t | several | coordinates: t.angle, t.x, t.y
 || couplings.b | "t" has several || couplings.f | "f" has no coordinates
coupled | couplings: {§s.qx: a, b: sin(§s.qy), §s.wx: a} | couplings.s.qx | not a velocity |
 spherical_euler || couplings.b | not a velocity || couplings.s.wx | unknown coordinate
coupled | couplings: {a: 1 + §b, b: 2*t.x, t.x: a + 1} | couplings.a | circular definition: a → b →
 t.x → a | break
coupled | couplings: {a: §a} | couplings.a | circular definition: a → a
coupled | couplings: {a: b, §a.q: b} | couplings.a.q | "a" is given already | remove one
coupled | couplings: {a: 2*§c} | couplings.a | "c" is a coordinate, but a constant | rename one
coupled | couplings: {a: b, t.x: b}⏎states: {h: {§a: 1, b: 1, §t: [1, 2, 3]}, i: {§t.x: 1, t: {§x:
 1, y: 2}}} | states.h.a | "a" is given by a coupling | leave it out || states.h.t | "t.x" is given
 by a coupling | {y: …, angle: …} || states.i.t.x | "t.x" is given || states.i.t.x | "t.x" is given
file | bodies: {a: {parent: world, @}, b: {parent: world, joint: {type: revolute, §rest: 1}}, d:
 {parent: world, joint: {type: revolute}, mass: 1, inertia: [1, 1, 1]}}⏎couplings: {b: d} |
 bodies.b.joint.rest | "b" is given by a coupling | leave it out
coupled | couplings: {a: 1 + §sqrt(b - 1), t.x: a} | couplings.a | sqrt has no value here, at -1; at
 rest b = 0 | zero or more
coupled | couplings: {a: b, b: §1/t.x} | couplings.b | division by zero; at rest t.x = 0 | divisor
coupled | couplings: {§s.x: b, a: 2*§s.z} | couplings.s.x | unknown coordinate "s.x" | did you mean
 "t.x"? coordinates: a, b, c, t.angle, t.x, t.y || couplings.a | unknown name "s.z" | known: b, c, d
coupled | couplings: {b: §cos} | couplings.b | cos is a function | of a joint cos: cos.q
coupled | couplings: {d<k>: {repeat: §{k: [2, 1]}, formula: b}} | couplings.d<k>.repeat | no copies
coupled | states:⏎  s:⏎    t.x: 1⏎    t.y: §zz⏎    a.q: §[1] | states.s.t.y | "zz" || states.s.a.q |
 expected a number
coupled | actuators: {m: {joint: a.q}, n: {joint: §a.x}} | actuators.n.joint | no joint or
coupled | couplings: {a: §sqrt(b)} | couplings.a | derivatives | smooth
coupled | couplings: {a: {formula: §sqrt(b)}} | couplings.a.formula | derivatives | smooth
coupled | couplings: {a: §true, b: §[a], t.x: 2 §b, t.y: §t.x.y} | couplings.a | a boolean ||
 couplings.b | got a list || couplings.t.x | not a formula || couplings.t.y | is not allowed
coupled | couplings: {a: {§formul: b}} | couplings.a.formul | unknown key | did you mean "formula"?
coupled | couplings: {§a: {}} | couplings.a | "formula" is missing | keys: formula, repeat
coupled | couplings: {a: {repeat: §{k: [1, 2]}, formula: b}, §d<k>: {repeat: {k: [1, 1]}, formula:
 b}} | couplings.a.repeat | "a" is there twice || couplings.d1 | unknown coordinate "d1"
coupled | constraints: {g: {type: equality, coordinates: [§aa, §s.qx]}, h: {type: equality,
 coordinates: §[a, a.q]}, i: {type: equality, coordinates: §[a]}} | constraints.g.coordinates[0] |
 unknown coordinate "aa" | did you mean "a"? || constraints.g.coordinates[1] | not a velocity |
 spherical_euler || constraints.h.coordinates | "a" is there twice | holonomic ||
 constraints.i.coordinates | at least 2 items | [first, second]
coupled | constraints: {g: {type: equality, coordinates: [a, b], ratio: §zz, offset: §true}} |
 constraints.g.ratio | "zz" || constraints.g.offset | a boolean
coupled | constraints: {h: {type: holonomic, formula: a - §bb}, i: {type: holonomic, formula: §2},
 j: {type: holonomic, formula: a + §s.qw}, l: {type: holonomic, formula: §t}} |
 constraints.h.formula | "bb" || constraints.i.formula | depends on no coordinate | a, b, c ||
 constraints.j.formula | not a velocity || constraints.l.formula | several | t.angle, t.x
coupled | constraints: {h: {type: holonomic, formula: b + §sqrt(a - 1)}} | constraints.h.formula |
 sqrt has no value here, at -1; at rest a = 0 | zero or more
coupled | constraints: {h: {type: holonomic, formula: §sqrt(a)}} | constraints.h.formula |
 derivatives of this constraint are not finite at rest | smooth
coupled | constraints: {k: {type: pfaffian, coefficients: {§s.qx: 1, §t: 2, a: §zz, s.wx: s.qx}}} |
 constraints.k.coefficients.s.qx | no velocity "s.qx" | velocities: a, b, c ||
 constraints.k.coefficients.t | "t" has several velocities | t.angle, t.x, t.y ||
 constraints.k.coefficients.a | "zz"
coupled | constraints: {k: {type: pfaffian, coefficients: §{a: 0}}, l: {type: pfaffian,
 coefficients: §{}}, n: {type: pfaffian, coefficients: {b: 1}, equals: §zz}} |
 constraints.k.coefficients | all coefficients are zero | that are not || constraints.l.coefficients
 | at least 1 item | {slide: 1 || constraints.n.equals | "zz"
coupled | constraints: {r: {type: rolling, joint: §a}, s: {type: rolling, joint: §zz}, t: {type:
 rolling, joint: §a, pivot: §no}} | constraints.r.joint | nothing touches in the joint "a" | contact
 and curve_surface || constraints.s.joint | no joint "zz" | this model has none ||
 constraints.t.joint | nothing touches || constraints.t.pivot | 'free' or 'forbidden'
file | bodies: {a: {parent: world, mass: 1, inertia: [1, 1, 1], joint: {type: surface_surface,
 surface: {type: plane}, child_surface: {type: sphere, radius: 1}}}, b: {parent: world, mass: 1,
 inertia: [1, 1, 1], joint: {name: ball, type: contact, surface: {type: plane}, child_surface:
 {type: sphere, radius: 1}}}}⏎constraints: {r: {type: rolling, joint: §a}, s: {type: rolling, joint:
 §bal}} | constraints.r.joint | "a" has too few coordinates to roll | contact and curve_surface
 roll; here: ball || constraints.s.joint | no joint "bal" | did you mean "ball"?
coupled | constraints: {p: {type: point, from: §zz, to: a}, q: {type: point, from: a, to: §a}, r:
 {type: frame, from: world, to: §world}} | constraints.p.from | no frame or body "zz" | world ||
 constraints.q.to | "a" and "a" are on the same body | two bodies || constraints.r.to | same body
coupled | constraints: {p: {type: point, from: a, to: b, directions: [x, §rx]}, q: {type: frame,
 from: a, to: b, directions: [x, §x]}, r: {type: frame, from: a, to: b, directions: §[]}} |
 constraints.p.directions[1] | 'x', 'y' or 'z' || constraints.q.directions[1] | "x" is there twice
 || constraints.r.directions | at least 1 item | [x, y, …]
coupled | constraints: {p: {type: §weld, from: a, to: b}, §q: {from: a, to: b}, r: §point} |
 constraints.p.type | unknown type "weld" | point || constraints.q | "type" is missing | rolling ||
 constraints.r | expected a mapping
coupled | constraints: {p: {type: point, from: a, to: b, time_constant: §0}, q: {type: point, from:
 a, to: b, §stiff: 1}, §r: {type: point, to: b}} | constraints.p.time_constant | not positive | > 0
 || constraints.q.stiff | unknown key | time_constant || constraints.r | "from" is missing
coupled | constraints: {p: {type: equality, coordinates: [a, b], time_constant: §1e-160}} |
 constraints.p.time_constant | too small | steps
coupled | constraints: {§p: {type: rolling}}⏎actuators: {§m: {gear: 1}} | constraints.p | "joint" is
 missing | keys: joint, pivot || actuators.m | "joint" is missing | keys: gear, joint
coupled | constraints: {p: {type: point, from: world, to: a}, §p_x: {type: equality, coordinates:
 [a, b]}} | constraints.p_x | "p.x" and "p_x" have the same name in C | rename
coupled | constraints: {§1p: {type: point, from: a, to: b}} | constraints.1p | no identifier
coupled | couplings: {a: §zz}⏎constraints: {h: {type: holonomic, formula: a + b}} | couplings.a |
 "zz"
coupled | constraints: {h: {type: pfaffian, coefficients: {a: 1, §a.q: 2}}} |
 constraints.h.coefficients.a.q | "a" is given already | remove one
coupled | parameters: {z: §zz}⏎constraints: {h: {type: pfaffian, coefficients: {a: z}}} |
 parameters.z | "zz"
coupled | parameters: {z: §zz}⏎constraints: {h: {type: holonomic, formula: a + z}} | parameters.z |
 "zz"
coupled | gravity: [0, 0, §a.q] | gravity[2] | "a.q" (attribute) is not allowed
coupled | parameters: {z: §zz}⏎couplings: {a: 1/(z-1), b: a} | parameters.z | "zz"
coupled | couplings: {§aa: b}⏎actuators: {m: {joint: §d}} | couplings.aa | unknown ||
 actuators.m.joint | no joint or coordinate "d"
file | bodies: {a: {parent: world, joint: {type: revolute}}, §b: {parent: a, joint: {type: revolute,
 axis: x}}, d: {parent: world, joint: {type: revolute}, mass: 1, inertia: [1, 1, 1]}}⏎couplings:
 {a: 2*d} | bodies.b | mass matrix is singular: nothing resists the joint "b"
"""
GOOD = [
    ("body", "mass: 1, inertia: [1, 1, 3], check_inertia: false"),
    ("file", "check_inertia: false\nbodies: {a: {parent: world, joint: {type: fixed}, "
             "mass: 1, inertia: [1, 1, 3]}}"),
    ("body", "mass: 1, com: [0, 0, 3]"),  # a point mass off its axis
    ("file", "bodies: {a: {parent: world, joint: {type: revolute, axis: x}}, b: {parent: a, "
             "joint: {type: revolute, axis: y}, mass: 1, inertia: [1, 1, 1]}}"),
    ("joint", "type: revolute, armature: 0.1"),
    ("body", "mass: 1e0, inertia: [10, 0xa, 010]"),
    ("file", "bodies: {a: {parent: world, joint: {type: revolute}}, b: {parent: a, joint: {type: "
             "prismatic}, mass: 1}}\ncouplings: {a: 2*b}"),  # a alone meets no inertia
    ("coupled", "couplings: {a: b, t.x: 2*t.y - c.q}\nactuators: {m: {joint: a}, n: {joint: t.x}}"),
]


def rows(table: str) -> list[Any]:
    out = []
    for line in table.strip().replace("\n ", " ").split("\n"):
        first, *others = line.split(" || ")
        template, text, *expected = first.split(" | ")
        problems = [expected, *(other.split(" | ") for other in others)]
        text = text.replace("⏎", "\n").replace("@", "joint: {type: fixed}")
        out.append(pytest.param(template, text, problems, id=first[:60]))
    return out


def check(template: str, text: str, expected: list[list[str]]) -> None:
    frame, base = TEMPLATES[template]
    marked = frame % text
    places = []
    for number, line in enumerate(marked.split("\n"), 1):
        parts = line.split("§")[:-1]
        places += [(number, len("".join(parts[: k + 1])) + 1) for k in range(len(parts))]
    with pytest.raises(aj.ModelError) as caught:
        aj.loads(marked.replace("§", ""))
    problems = caught.value.problems
    assert [(p.place.line, p.place.column) for p in problems if p.place] == places, problems
    assert len(problems) == len(expected)
    for problem, (key, message, *hint) in zip(problems, expected, strict=True):
        assert problem.key == key.removeprefix("-").replace("~", base)
        assert message.removeprefix("-") in problem.message
        assert (hint or [""])[0] in problem.hint


@pytest.mark.quick
@pytest.mark.parametrize(("template", "text", "expected"), rows(BAD))
def test_problem(template: str, text: str, expected: list[list[str]]) -> None:
    check(template, text, expected)


@pytest.mark.parametrize(("template", "text"), GOOD)
def test_good(template: str, text: str) -> None:
    aj.loads(TEMPLATES[template][0] % text)
