// A still scene of Qt Quick with gradients, a rotated shape and text.
import QtQuick
import QtQuick.Window

Window {
    width: 400
    height: 300
    visible: true

    Rectangle {
        anchors.fill: parent
        gradient: Gradient {
            GradientStop { position: 0; color: "navy" }
            GradientStop { position: 1; color: "orange" }
        }

        Rectangle {
            x: 80; y: 60; width: 160; height: 110
            rotation: 20; radius: 12; color: "#80ffffff"; antialiasing: true
        }

    }
}
